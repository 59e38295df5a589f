#!/usr/bin/env bash
# debian.sh BUILD_DIR: makes the Debian packages and tries them in a bare Debian 12; README.md beside it says more.
# KEEP=FOLDER keeps the bare system there for the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "$1")
[[ $EUID -eq 0 ]] || { echo "debian: run as root"; exit 1; }
command -v debootstrap >/dev/null || { echo "debian: install debootstrap"; exit 1; }
work=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$work"' EXIT

say() { echo "debian: $*"; }

say "making the packages"
rm -rf "$build/packages"
(cd "$build" && cpack -G DEB >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
for name in tenon libtenon0 libtenon-dev; do
  dpkg-deb --info "$build/packages/$name"_*.deb | sed -nE 's/^ (Package|Depends|Installed-Size): /  &/p'
done

bare=${KEEP:-$work/bare}
if [[ ! -d $bare/usr ]]; then
  say "installing a bare Debian 12"
  debootstrap --variant=minbase bookworm "$bare" http://deb.debian.org/debian >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log"; exit 1; }
fi
root=$work/root
cp -a "$bare" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$build"/packages/*.deb tests/golden/models/mlp/graph.pbtxt tests/packages/in_debian.sh "$root/packages/"
# The mounts go with the namespace.
unshare --mount --fork bash -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmp "$1/tmp" &&
  exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C bash /packages/in_debian.sh' - "$root"
