// Every built-in op.
#include "graph/ops/families.h"
#include "graph/ops/tenon.h"

namespace tenon {

absl::Span<const absl::Span<const OpSpec>> BuiltinOps() {
  using namespace ops;
  static const std::array families = {
      Basic(),       Elementwise(), Reduction(),  Arrays(),      Selection(),    Linalg(),
      Nn(),          Image(),       Quantize(),   Strings(),     Random(),       Variables(),
      Training(),    Containers(),  Preprocess(), ControlFlow(), Functions(),    Files(),
      QuantizedNn(), Sparse(),      Summary(),    Data(),        Distribution(), Tenon()};
  return families;
}

}  // namespace tenon
