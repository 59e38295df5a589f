// Random numbers.
#include "graph/ops/families.h"
#include "graph/ops/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"Multinomial", "logits: T; num_samples: int32", "output: output_dtype",
     "seed: int = 0; seed2: int = 0; T: realnumbertype; output_dtype: {int32, int64} = DT_INT64",
     MultinomialShape, kStateful},
    {"ParameterizedTruncatedNormal",
     "shape: T; means: dtype; stdevs: dtype; minvals: dtype; maxvals: dtype", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     ShapeInputShape, kStateful},
    {"RandomGamma", "shape: S; alpha: T", "output: T",
     "seed: int = 0; seed2: int = 0; S: {int32, int64}; T: {half, float, double}",
     SamplesOfEachShape, kStateful},
    {"RandomIndexShuffle", "index: dtype; seed: Tseed; max_index: dtype", "output: dtype",
     "rounds: int = 4; dtype: {int32, uint32, int64, uint64}; "
     "Tseed: {int32, uint32, int64, uint64}",
     IndexShuffleShape},
    {"RandomPoissonV2", "shape: S; rate: R", "output: dtype",
     "seed: int = 0; seed2: int = 0; S: {int32, int64}; "
     "R: {half, float, double, int32, int64} = DT_DOUBLE; "
     "dtype: {half, float, double, int32, int64} = DT_INT64",
     SamplesOfEachShape, kStateful},
    {"RandomShuffle", "value: T", "output: T", "seed: int = 0; seed2: int = 0; T: type",
     UnchangedShape, kStateful},
    {"RandomStandardNormal", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     ShapeInputShape, kStateful},
    {"RandomUniform", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     ShapeInputShape, kStateful},
    {"RandomUniformInt", "shape: T; minval: Tout; maxval: Tout", "output: Tout",
     "seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}",
     RandomUniformIntShape, kStateful},
    {"StatelessMultinomial", "logits: T; num_samples: int32; seed: Tseed", "output: output_dtype",
     "T: realnumbertype; Tseed: {int32, int64} = DT_INT64; output_dtype: {int32, int64} = DT_INT64",
     StatelessMultinomialShape},
    {"StatelessRandomBinomial", "shape: S; seed: Tseed; counts: T; probs: T", "output: dtype",
     "S: {int32, int64}; Tseed: {int32, int64} = DT_INT64; "
     "T: {half, float, double, int32, int64} = DT_DOUBLE; "
     "dtype: {half, float, double, int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomGetAlg", "", "alg: int32", "", ScalarShape, kStateful},
    {"StatelessRandomGetKeyCounter", "seed: Tseed", "key: uint64; counter: uint64",
     "Tseed: {int32, int64} = DT_INT64", KeyCounterShape},
    {"StatelessRandomGetKeyCounterAlg", "seed: Tseed", "key: uint64; counter: uint64; alg: int32",
     "Tseed: {int32, int64} = DT_INT64", KeyCounterShape},
    {"StatelessRandomNormal", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomNormalV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     StatelessRandomV2Shape},
    {"StatelessRandomPoisson", "shape: T; seed: Tseed; lam: Rtype", "output: dtype",
     "Rtype: {half, float, double, int32, int64}; dtype: {half, float, double, int32, int64}; "
     "T: {int32, int64}; Tseed: {int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomUniform", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomUniformFullInt", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = DT_UINT64; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64, uint32, uint64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomUniformFullIntV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {int32, int64, uint32, uint64} = DT_UINT64; Tshape: {int32, int64} = DT_INT32",
     StatelessRandomV2Shape},
    {"StatelessRandomUniformInt", "shape: T; seed: Tseed; minval: dtype; maxval: dtype",
     "output: dtype", "dtype: {int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessRandomUniformIntV2",
     "shape: Tshape; key: uint64; counter: uint64; alg: int32; minval: dtype; maxval: dtype",
     "output: dtype", "dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64} = DT_INT32",
     StatelessRandomV2Shape},
    {"StatelessRandomUniformV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     StatelessRandomV2Shape},
    {"StatelessShuffle", "value: T; key: uint64; counter: uint64; alg: int32", "output: T",
     "T: type", UnchangedShape},
    {"StatelessTruncatedNormal", "shape: T; seed: Tseed", "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; T: {int32, int64} = DT_INT32; "
     "Tseed: {int32, int64} = DT_INT64",
     StatelessRandomShape},
    {"StatelessTruncatedNormalV2", "shape: Tshape; key: uint64; counter: uint64; alg: int32",
     "output: dtype",
     "dtype: {half, bfloat16, float, double} = DT_FLOAT; Tshape: {int32, int64} = DT_INT32",
     StatelessRandomV2Shape},
    {"TruncatedNormal", "shape: T", "output: dtype",
     "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}",
     ShapeInputShape, kStateful},
};

}  // namespace

absl::Span<const OpSpec> Random() { return kOps; }

}  // namespace tenon::ops
