# Java bots. To build: the compiler, Maven and protoc.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS run
RUN apt-get update && apt-get install -y default-jre-headless && rm -rf /var/lib/apt/lists/*

FROM run AS build
RUN apt-get update && \
    apt-get install -y ca-certificates default-jdk-headless maven protobuf-compiler && \
    rm -rf /var/lib/apt/lists/*
COPY proto/ /usr/share/botarena/proto/botarena/
