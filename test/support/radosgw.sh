#!/bin/bash
# Ceph's S3 gateway for the tests: one monitor, one OSD in memory, one radosgw, on loopback, without privileges,
# from Debian's packages.
#
#   radosgw.sh up FOLDER [PORT]    fetches into FOLDER once (about 70 MB), starts, prints the endpoint
#   radosgw.sh down FOLDER         stops what `up FOLDER` started
#
# `apt-get update` must have run once on the machine. To use it:
#
#   NODESTATE_TEST_RADOSGW=$(test/support/radosgw.sh up FOLDER) npm test
set -eu

verb=${1:?up or down}
folder=$(mkdir -p "${2:?a folder}" && cd "$2" && pwd)
port=${3:-7480}
root=$folder/root
run=$folder/run
bin=$root/usr/bin

down() {
  for part in rgw osd mon; do
    if [ -f "$run/$part.pid" ]; then kill "$(cat "$run/$part.pid")" 2>/dev/null || true; fi
    rm -f "$run/$part.pid"
  done
}

fail() {
  echo "radosgw.sh: $1; see $run" >&2
  down
  exit 1
}

# until_true TRIES PAUSE COMMAND…
until_true() {
  local tries=$1 pause=$2
  shift 2
  for _ in $(seq "$tries"); do
    "$@" >/dev/null 2>&1 && return 0
    sleep "$pause"
  done
  return 1
}

down
[ "$verb" = up ] || exit 0

if [ ! -x "$bin/radosgw" ]; then
  mkdir -p "$folder/debs"
  cd "$folder/debs"
  packages=$(apt-get install -s --no-install-recommends radosgw ceph-mon ceph-osd | awk '/^Inst/ {print $2}')
  # shellcheck disable=SC2086
  apt-get download $packages >&2
  for package in *.deb; do dpkg-deb -x "$package" "$root"; done
fi

lib=$root/usr/lib/$(dpkg --print-architecture | sed 's/amd64/x86_64/; s/arm64/aarch64/')-linux-gnu
export LD_LIBRARY_PATH=$lib:$lib/ceph:${lib/usr\/lib/lib}
export PYTHONPATH=$root/usr/lib/python3/dist-packages
export CEPH_CONF=$run/ceph.conf
rm -rf "$run"
mkdir -p "$run/mon" "$run/osd"
cluster=$(cat /proc/sys/kernel/random/uuid)
disk=$(cat /proc/sys/kernel/random/uuid)
monitor=v1:127.0.0.1:$((port - 691))
cat >"$CEPH_CONF" <<END
[global]
fsid = $cluster
mon_initial_members = a
mon_host = $monitor
ms_bind_msgr2 = false
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = $run
admin_socket = $run/\$cluster-\$name.asok
log_file = $run/\$name.log
crash_dir = $run/crash
plugin_dir = $lib/ceph
erasure_code_dir = $lib/ceph/erasure-code
osd_class_dir = $lib/rados-classes
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 1000
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 2147483648
mon_data = $run/mon
osd_data = $run/osd
[client.rgw]
rgw_data = $run
rgw_frontends = beast endpoint=127.0.0.1:$port
rgw_dns_name = localhost
rgw_run_sync_thread = false
rgw_enable_gc_threads = false
rgw_enable_lc_threads = false
rgw_thread_pool_size = 16
END

ceph() { timeout 10 /usr/bin/python3 "$bin/ceph" "$@"; }
osd_is_up() { ceph osd stat | grep -q '1 up'; }

"$bin/monmaptool" --create --fsid "$cluster" --addv a "[$monitor]" "$run/monmap" >/dev/null
"$bin/ceph-mon" --mkfs -i a --monmap "$run/monmap" >&2
"$bin/ceph-mon" -i a -f >"$run/mon.out" 2>&1 </dev/null &
echo $! >"$run/mon.pid"
until_true 50 .2 ceph -s || fail 'the monitor did not start'

ceph osd new "$disk" >/dev/null 2>&1 || fail 'the monitor takes no OSD'
"$bin/ceph-osd" -i 0 --mkfs --osd-uuid "$disk" >"$run/mkfs.out" 2>&1
ceph osd crush add-bucket h1 host root=default >/dev/null 2>&1
ceph osd crush add osd.0 1.0 host=h1 root=default >/dev/null 2>&1
# An OSD that meets the monitor too early ends with "wrong fsid": then it is started again.
for _ in 1 2 3 4 5; do
  "$bin/ceph-osd" -i 0 -f >>"$run/osd.out" 2>&1 </dev/null &
  echo $! >"$run/osd.pid"
  for _ in $(seq 40); do
    kill -0 "$(cat "$run/osd.pid")" 2>/dev/null || break
    osd_is_up 2>/dev/null && break 2
    sleep .2
  done
  kill "$(cat "$run/osd.pid")" 2>/dev/null || true
done
until_true 5 .2 osd_is_up || fail 'the OSD did not start'

timeout 60 "$bin/radosgw-admin" -n client.rgw user create --uid=test --display-name=test \
  --access-key=testkey --secret-key=testsecret >"$run/user.json" 2>"$run/user.err" || fail 'no user could be made'
"$bin/radosgw" -f -n client.rgw >"$run/rgw.out" 2>&1 </dev/null &
echo $! >"$run/rgw.pid"
until_true 300 .1 curl -sf -o /dev/null "http://127.0.0.1:$port/" || fail 'radosgw did not start'
echo "http://127.0.0.1:$port"
