# Go bots. To build: the compiler, protoc with its plugins for Go, gRPC for GOPATH builds in /usr/share/gocode.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS run

FROM run AS build
RUN apt-get update && \
    apt-get install -y ca-certificates golang-go golang-google-grpc-dev golang-google-protobuf-dev \
        protobuf-compiler protoc-gen-go protoc-gen-go-grpc && \
    rm -rf /var/lib/apt/lists/*
COPY proto/ /usr/share/botarena/proto/botarena/
