# Rust bots. To build: Cargo and protoc; crates are vendored by the bot, or fetched where the network is allowed.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS run
RUN apt-get update && apt-get install -y libgcc-s1 && rm -rf /var/lib/apt/lists/*

FROM run AS build
RUN apt-get update && \
    apt-get install -y ca-certificates cargo rustc protobuf-compiler && \
    rm -rf /var/lib/apt/lists/*
COPY proto/ /usr/share/botarena/proto/botarena/
