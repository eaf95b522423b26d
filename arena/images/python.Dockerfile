# Python bots: the SDK, and the rules of the games for bots that search. To build: pip.
ARG SUITE=trixie
FROM botarena/base:${SUITE} AS bare
# Not python3-minimal: gRPC needs asyncio.
RUN apt-get update && apt-get install -y python3 && rm -rf /var/lib/apt/lists/*

FROM bare AS run
COPY python/ /opt/botarena/
# Nothing can be written where bots run, so what is not compiled now is compiled at every start.
RUN python3 -c 'import sysconfig; print(sysconfig.get_path("purelib", "deb_system"))' >/tmp/site && \
    echo /opt/botarena >"$(cat /tmp/site)/botarena.pth" && rm /tmp/site && \
    python3 -m compileall -q --invalidation-mode unchecked-hash /opt/botarena && \
    python3 -c 'import botarena, grpc, arena.games'

FROM run AS build
RUN apt-get update && apt-get install -y python3-pip && rm -rf /var/lib/apt/lists/*
