# docker build --tag weir .
# docker run --rm weir list
# docker run --rm -v "$PWD:/work" weir run my.toml
# docker run --rm --privileged -v "$PWD:/work" weir emulate my.toml     namespaces need root
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package weir

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ffmpeg iperf3 iproute2 iputils-ping \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/weir /usr/local/bin/weir
WORKDIR /work
ENTRYPOINT ["weir"]
