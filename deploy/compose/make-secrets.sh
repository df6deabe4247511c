#!/bin/sh
# Makes the files of ./secrets that are missing; existing ones stay. The folder is closed to others, its files are open: containers run as
# users of their own.
set -eu
folder=${1:-secrets}
umask 077
mkdir -p "$folder"
cd "$folder"

random() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
make() { [ -e "$1" ] || printf '%s' "$2" > "$1"; chmod 444 "$1"; }

make mongodb_root_password "$(random 24)"
make mongodb_password "$(random 24)"
make mongodb_keyfile "$(random 256)"
make mongodb_url "mongodb://chaintables:$(cat mongodb_password)@mongodb:27017/?replicaSet=rs0&authSource=admin"
make redis_password "$(random 24)"
make redis_conf "requirepass $(cat redis_password)"
make redis_url "redis://:$(cat redis_password)@redis:6379"
make service_token "$(random 32)"
make grafana_password "$(random 16)"
# The wallet of the built-in facilitator (--profile x402); empty = none.
make facilitator_private_key ""
echo "Secrets are in $folder. Keep a copy: a lost mongodb_password locks you out of your own data."
