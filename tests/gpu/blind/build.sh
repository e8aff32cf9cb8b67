#!/bin/sh
# build.sh [PROGRAM]: builds PROGRAM (default: /tmp/blind) for Hopper, with the CUDA runtime linked statically.
set -e
program=$(realpath -m "${1:-/tmp/blind}")
cd "$(dirname "$0")"
nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo -cudart static -o "$program" main.cu memory.cu schedule.cu compute.cu host.cu extra.cu
