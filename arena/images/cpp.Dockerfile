# C++ bots. To build: a compiler, CMake, gRPC and the protos in /usr/share/botarena/proto.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS run
RUN apt-get update && apt-get install -y '?name(^libgrpc\+\+1)' && rm -rf /var/lib/apt/lists/*

FROM run AS build
RUN apt-get update && \
    apt-get install -y g++ make cmake libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc && \
    rm -rf /var/lib/apt/lists/*
COPY proto/ /usr/share/botarena/proto/botarena/
