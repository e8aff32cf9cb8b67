#!/bin/sh
# build.sh [PROGRAM]: builds PROGRAM (default: /tmp/blind2) for Hopper, with the CUDA runtime linked statically.
set -e
program=$(realpath -m "${1:-/tmp/blind2}")
cd "$(dirname "$0")"
nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo -cudart static -o "$program" \
  main.cu graphics.cu llm.cu layers.cu science.cu database.cu gemm.cu clean.cu
