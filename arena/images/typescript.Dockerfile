# TypeScript and JavaScript bots. To build: npm and the compiler.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS run
RUN apt-get update && apt-get install -y nodejs && rm -rf /var/lib/apt/lists/*

FROM run AS build
RUN apt-get update && \
    apt-get install -y ca-certificates npm node-typescript && \
    rm -rf /var/lib/apt/lists/*
COPY proto/ /usr/share/botarena/proto/botarena/
