#!/bin/bash
# Times all cases, then records them in groups of six (plan.awk). About 100 s; nothing is started after 112 s.
OUT=${1:?usage: run.sh OUTDIR}
mkdir -p "$OUT"; OUT=$(cd "$OUT" && pwd)
cd "$(dirname "$0")" || exit 1
chmod +x blind2 fathom
began=$SECONDS
failed=" "
: > "$OUT/times.tsv"
for attempt in 1 2 3 4; do  # a case that ends the program is left out, and the cases after it go on
  names=$(./blind2 list | awk '{ print $1 }' | while read -r name; do
    grep -q "^$name	fixed" "$OUT/times.tsv" || [[ $failed == *" $name "* ]] || echo "$name"; done)
  [ -z "$names" ] && break
  left=$((50 - (SECONDS - began)))
  [ "$left" -lt 5 ] && break
  timeout -k 2 "$left" ./blind2 all "$OUT/times.tsv" $names 2>&1 | tee -a "$OUT/times.txt"
  for name in $names; do
    grep -q "^$name	fixed" "$OUT/times.tsv" || { failed="$failed$name "; break; }
  done
done
echo "ended the program: $failed"
echo "all: $((SECONDS - began)) s"
work=$(mktemp -d)
: > "$OUT/groups.tsv"
record() {  # NAME VARIANT CASE:REPEATS...
  local name=$1 variant=$2
  shift 2
  local left=$((128 - (SECONDS - began)))
  if [ "$left" -lt 16 ]; then
    echo "not recorded, no time left: $name $*"
    return
  fi
  [ "$left" -gt 30 ] && left=30
  local from=$SECONDS
  timeout -k 2 "$left" ./fathom record --counters=full --replay --out "$work/$name.capture" -- \
    ./blind2 run "$variant" "$@" > "$work/$name.log" 2>&1 < /dev/null
  echo "capture $name rc=$? $((SECONDS - from)) s: $*"
  printf '%s\t%s\t%s\n' "$name" "$variant" "$*" >> "$OUT/groups.tsv"
}
# A case whose program failed is absent from times.tsv, so it is absent here too.
for variant in faulty fixed; do awk -v variant=$variant -f plan.awk "$OUT/times.tsv" > "$work/$variant.plan"; done
record faulty-launches faulty kv_append:2
for line in 1 2 3 4 5 6; do
  for variant in faulty fixed; do
    group=$(sed -n "${line}p" "$work/$variant.plan")
    [ -n "$group" ] && record "$variant-$line" $variant $group
  done
done
tar -C "$work" -czf "$OUT/captures.tar.gz" .
ls -la "$work" "$OUT"
echo "total: $((SECONDS - began)) s"
