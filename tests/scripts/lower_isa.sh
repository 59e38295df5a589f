#!/usr/bin/env bash
# lower_isa.sh BUILD_DIR: kernels that choose code by instruction set are right with those of lesser
# machines too.
set -euo pipefail
for isa in baseline avx2; do
  TENON_ISA=$isa "$1/tests/plugin_test" --gtest_brief=1 \
    --gtest_filter='*Matrices*:Extremes*:*Convolution*:OneDnnReferenceSweep*:ElementLoops*:*Ulp*:*Depthwise*:*Products*:CutsOf*:RowsTimes*:Softmaxes*' ||
    { echo "with $isa"; exit 1; }
done
