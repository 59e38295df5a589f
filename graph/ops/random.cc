// Random numbers.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"Multinomial", "logits: T; num_samples: int32", "output: output_dtype",
     "seed: int = 0; seed2: int = 0; T: realnumbertype; output_dtype: {int32, int64} = DT_INT64",
     nullptr, kStateful},
    {"ParameterizedTruncatedNormal",
     "shape: T; means: dtype; stdevs: dtype; minvals: dtype; maxvals: dtype", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     nullptr, kStateful},
    {"RandomGamma", "shape: S; alpha: T", "output: T",
     "seed: int = 0; seed2: int = 0; S: {int32, int64}; T: {half, float, double}", nullptr,
     kStateful},
    {"RandomIndexShuffle", "index: dtype; seed: Tseed; max_index: dtype", "output: dtype",
     "rounds: int = 4; dtype: {int32, uint32, int64, uint64}; "
     "Tseed: {int32, uint32, int64, uint64}",
     nullptr},
    {"RandomPoissonV2", "shape: S; rate: R", "output: dtype",
     "seed: int = 0; seed2: int = 0; S: {int32, int64}; "
     "R: {half, float, double, int32, int64} = DT_DOUBLE; "
     "dtype: {half, float, double, int32, int64} = DT_INT64",
     nullptr, kStateful},
    {"RandomShuffle", "value: T", "output: T", "seed: int = 0; seed2: int = 0; T: type", nullptr,
     kStateful},
    {"RandomStandardNormal", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     nullptr, kStateful},
    {"RandomUniform", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     nullptr, kStateful},
    {"RandomUniformInt", "shape: T; minval: Tout; maxval: Tout", "output: Tout",
     "seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}", nullptr, kStateful},
    {"StatelessMultinomial", "logits: T; num_samples: int32; seed: Tseed", "output: output_dtype",
     "T: realnumbertype; Tseed: {int32, int64} = DT_INT64; output_dtype: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomBinomial", "shape: S; seed: Tseed; counts: T; probs: T", "output: dtype",
     "S: {int32, int64}; Tseed: {int32, int64} = DT_INT64; "
     "T: {half, float, double, int32, int64} = DT_DOUBLE; "
     "dtype: {half, float, double, int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomGetAlg", "", "alg: int32", "", nullptr, kStateful},
    {"StatelessRandomGetKeyCounter", "seed: Tseed", "key: uint64; counter: uint64",
     "Tseed: {int32, int64} = DT_INT64", nullptr},
    {"StatelessRandomGetKeyCounterAlg", "seed: Tseed", "key: uint64; counter: uint64; alg: int32",
     "Tseed: {int32, int64} = DT_INT64", nullptr},
    {"StatelessRandomNormal", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomNormalV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     nullptr},
    {"StatelessRandomPoisson", "shape: T; seed: Tseed; lam: Rtype", "output: dtype",
     "Rtype: {half, float, double, int32, int64}; dtype: {half, float, double, int32, int64}; "
     "T: {int32, int64}; Tseed: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomUniform", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomUniformFullInt", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = DT_UINT64; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64, uint32, uint64} = DT_INT64",
     nullptr},
    {"StatelessRandomUniformFullIntV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = DT_UINT64; Tshape: {int32, int64} = DT_INT32",
     nullptr},
    {"StatelessRandomUniformInt", "shape: T; seed: Tseed; minval: dtype; maxval: dtype",
     "output: dtype", "dtype: {int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessRandomUniformIntV2",
     "shape: Tshape; key: uint64; counter: uint64; alg: int32; minval: dtype; maxval: dtype",
     "output: dtype", "dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64} = DT_INT32",
     nullptr},
    {"StatelessRandomUniformV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     nullptr},
    {"StatelessShuffle", "value: T; key: uint64; counter: uint64; alg: int32", "output: T",
     "T: type", nullptr},
    {"StatelessTruncatedNormal", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     nullptr},
    {"StatelessTruncatedNormalV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     nullptr},
    {"TruncatedNormal", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     nullptr, kStateful},
};

}  // namespace

absl::Span<const OpSpec> Random() { return kOps; }

}  // namespace tenon::ops
