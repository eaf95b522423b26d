#!/bin/sh
# Makes the images that bots are built in and run in, out of Debian's packages; no image registry is asked.
#
#   make.sh LANGUAGE...
#
# The environment says how: SUITE (trixie), MIRROR and SECURITY (where packages are fetched: where this machine
# gets its own), BUILD (a folder that is kept: build/images), PYTHON (one that has pip). Each language gives botarena/LANGUAGE:SUITE, in which its bots run,
# and botarena/LANGUAGE-build:SUITE, in which they are built. What is there already is made anew only as far as
# what it is made of has changed; FRESH=1 fetches the newest packages.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# Where this machine gets its own packages of an archive; nothing if it is no Debian.
debian_of_this_machine() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 "/$1/*\$" || true
}

SUITE=${SUITE:-trixie}
MIRROR=${MIRROR:-$(debian_of_this_machine debian)}
SECURITY=${SECURITY:-$(debian_of_this_machine debian-security)}
BUILD=${BUILD:-$root/build/images}
PYTHON=${PYTHON:-python3}
FRESH=${FRESH:-}
export DOCKER_BUILDKIT=0 # it would fetch a frontend, and needs a plugin

say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }

fail() {
  printf 'error: %s\nwhy: %s\ndo: %s\n' "$1" "$2" "$3" >&2
  exit 1
}

check() {
  for tool in debootstrap docker; do
    command -v "$tool" >/dev/null || fail "the images cannot be made" "there is no $tool" "apt-get install debootstrap docker.io"
  done
  [ -n "$MIRROR" ] && [ -n "$SECURITY" ] ||
    fail "the images cannot be made" "this machine knows no place with Debian's packages" "name them: MIRROR=... SECURITY=..."
  docker version >/dev/null 2>&1 ||
    fail "the images cannot be made" "no Docker engine answers" "start one, or name it: export DOCKER_HOST=unix:///..."
  for language; do
    [ -f "$here/$language.Dockerfile" ] ||
      fail "there is no image for $language" "$here has no $language.Dockerfile" "choose of: $(languages)"
  done
}

languages() {
  for file in "$here"/*.Dockerfile; do basename "$file" .Dockerfile; done | paste -sd ' ' -
}

# The system that all images begin with. It is kept as an archive, with the date of the packages that it is made of.
base() {
  archive=$BUILD/base-$SUITE.tar
  if [ -n "$FRESH" ] || [ ! -f "$archive" ]; then
    [ "$(id -u)" = 0 ] || fail "the images cannot be made" "debootstrap must be root" "run it with sudo, this once"
    say "base: $SUITE from $MIRROR"
    tree=$(mktemp -d "$BUILD/tree.XXXXXX")
    trap 'rm -rf "$tree"' EXIT
    debootstrap --variant=minbase "$SUITE" "$tree" "$MIRROR" >"$BUILD/debootstrap.log" ||
      fail "debootstrap failed" "$(tail -n 1 "$BUILD/debootstrap.log")" "see $BUILD/debootstrap.log"
    slim "$tree"
    pack "$tree" "$archive"
    rm -rf "$tree"
  fi
  digest=$(sha256sum "$archive" | cut -c -64)
  image=botarena/base:$SUITE
  found=$(docker image inspect --format '{{index .Config.Labels "org.botarena.archive"}}' "$image" 2>/dev/null || true)
  # A new image for the same archive would make all that is built on it anew.
  [ "$found" = "$digest" ] || docker import --change "LABEL org.botarena.archive=$digest" "$archive" "$image" >/dev/null
}

# Nothing that no bot reads, and nothing of this machine.
slim() {
  released=$(sed -n 's/^Date: //p' "$1"/var/lib/apt/lists/*InRelease | head -n 1)
  date -d "$released" +%s >"$1/.released"
  cat >"$1/etc/dpkg/dpkg.cfg.d/slim" <<END
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/man/*
END
  cat >"$1/etc/apt/apt.conf.d/slim" <<END
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
DPkg::Post-Invoke { "rm -f /var/cache/apt/*.bin /var/cache/apt/archives/*.deb"; };
END
  cat >"$1/etc/apt/sources.list" <<END
deb $MIRROR $SUITE main
deb $MIRROR $SUITE-updates main
deb $SECURITY $SUITE-security main
END
  for kind in doc info lintian locale man; do rm -rf "$1/usr/share/$kind" && mkdir "$1/usr/share/$kind"; done
  mkdir "$1/usr/share/man/man1" # Java's packages want to link into it
  rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old
  rm -f "$1/etc/resolv.conf" "$1/etc/hostname" "$1/var/cache/ldconfig/aux-cache"
  find "$1/var/log" -type f -delete
  : >"$1/etc/machine-id"
}

pack() {
  released=$(cat "$1/.released")
  rm "$1/.released"
  tar -C "$1" --sort=name --mtime="@$released" --clamp-mtime --numeric-owner --one-file-system -cf "$2.part" .
  mv "$2.part" "$2"
}

# What goes into the images besides packages: a folder for each, filled anew.
context() {
  rm -rf "$BUILD/context"
  mkdir -p "$BUILD/context"
  cp -r "$root/proto/botarena" "$BUILD/context/proto"
}

# One that it replaces is removed, unless bots' images are built on it.
build() { # image, stage, Dockerfile
  before=$(docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true)
  docker build --network host ${FRESH:+--no-cache} --build-arg "SUITE=$SUITE" \
    ${http_proxy:+--build-arg "http_proxy=$http_proxy"} \
    --target "$2" --tag "$1" --file "$3" "$BUILD/context" >"$BUILD/build.log" 2>&1 ||
    fail "$1 cannot be built" "$(tail -n 1 "$BUILD/build.log")" "see $BUILD/build.log"
  if [ -n "$before" ] && [ "$before" != "$(docker image inspect --format '{{.Id}}' "$1")" ]; then
    docker image rm "$before" >/dev/null 2>&1 || true
  fi
}

# The SDK for the Python that the image has, installed by the Python of this machine: so its settings for the
# package registry stay here, and the image needs no pip. The rules of the games are for bots that search.
python_packages() {
  site=$BUILD/context/python
  version=$(docker run --rm --network none "$1" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  machine=$(uname -m)
  "$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir "$BUILD/context/wheels" "$root/sdk/python"
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-compile --target "$site" \
    --only-binary :all: --python-version "$version" --implementation cp \
    --platform "manylinux2014_$machine" --platform "manylinux_2_17_$machine" --platform "manylinux_2_28_$machine" \
    "$BUILD"/context/wheels/*.whl
  rm -r "$site/bin" 2>/dev/null || true
  mkdir "$site/arena"
  cp "$root/arena/__init__.py" "$root/arena/py.typed" "$site/arena"
  cp -r "$root/arena/games" "$site/arena/games"
  find "$site" -name __pycache__ -prune -exec rm -r {} +
}

language() {
  file=$here/$1.Dockerfile
  run=botarena/$1:$SUITE
  began=$(date +%s)
  if [ "$1" = python ]; then
    build botarena/python-bare:"$SUITE" bare "$file"
    python_packages botarena/python-bare:"$SUITE"
  fi
  build "$run" run "$file"
  build "botarena/$1-build:$SUITE" build "$file"
  if [ "$1" = python ]; then docker image rm --no-prune botarena/python-bare:"$SUITE" >/dev/null; fi
  for image in "$run" "botarena/$1-build:$SUITE"; do
    say "$image: $(docker image inspect --format '{{.Size}}' "$image" | numfmt --to=iec)B"
  done
  say "$1: $(($(date +%s) - began)) s"
}

[ $# -gt 0 ] || set -- $(languages)
check "$@"
mkdir -p "$BUILD"
base
context
for name; do language "$name"; done
