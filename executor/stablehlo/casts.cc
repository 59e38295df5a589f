// Ops that change the type of elements.
#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace casts_ops {
namespace {

absl::Status Cast(Op& op) {
  const DataType to = op.OutType(0);
  if (op.InType(0) == to) {
    op.Forward(0, 0);
    return absl::OkStatus();
  }
  Value x = op.In(0);
  // Of a complex number the real part stays, for bool too.
  if (IsComplex(x.dtype) && !IsComplex(to)) x = op.b.Real(x);
  if (!IsComplex(x.dtype) && IsComplex(to)) {
    x = op.b.Convert(x, to == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat);
    return op.Out(op.b.Complex(x, op.b.Like(x, 0)));
  }
  return op.Out(op.b.Convert(x, to));
}

absl::Status Bitcast(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  if (op.InType(0) == op.OutType(0)) {
    op.Forward(0, 0);
    return absl::OkStatus();
  }
  return op.Out(op.b.Bitcast(op.In(0), op.OutType(0), shape));
}

std::string RefuseTruncation(const Graph& graph, NodeId n) {
  const AttrValue* const truncate = graph.attr(n, "Truncate");
  const bool is_set = truncate != nullptr && truncate->AsBool().value_or(false);
  return is_set ? "with Truncate" : "";
}

constexpr Row kRows[] = {
    {"Cast", Cast, kAll, 0, 0, false, RefuseTruncation},
    {"_HostCast", Cast, kAll, 0, 0, false, RefuseTruncation},
    {"Bitcast", Bitcast, kReals},
};

}  // namespace
}  // namespace casts_ops

Rows CastRows() { return casts_ops::kRows; }

}  // namespace tenon::stablehlo
