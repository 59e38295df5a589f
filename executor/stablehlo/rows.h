// The table of ops that can be lowered: a row for each, by family. Private to executor/stablehlo/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/stablehlo/op.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"

namespace tenon::stablehlo {

// A set of element types. None of them, nor what Has is asked for, may be a reference type.
class Types {
 public:
  constexpr Types() = default;
  constexpr Types(std::initializer_list<DataType> types) {
    for (const DataType t : types) bits_ |= Bit(t);
  }
  constexpr bool Has(DataType t) const { return (bits_ & Bit(t)) != 0; }
  constexpr Types operator|(Types other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr uint64_t Bit(DataType t) { return uint64_t{1} << static_cast<int>(t); }
  uint64_t bits_ = 0;
};

inline constexpr Types kFloats = {DataType::kFloat, DataType::kDouble, DataType::kHalf,
                                  DataType::kBfloat16};
inline constexpr Types kInts = {DataType::kInt8,   DataType::kInt16, DataType::kInt32,
                                DataType::kInt64,  DataType::kUint8, DataType::kUint16,
                                DataType::kUint32, DataType::kUint64};
inline constexpr Types kComplexes = {DataType::kComplex64, DataType::kComplex128};
inline constexpr Types kFloatsAndComplexes = kFloats | kComplexes;
inline constexpr Types kBools = {DataType::kBool};
inline constexpr Types kReals = kFloats | kInts;
inline constexpr Types kNumbers = kReals | kComplexes;
inline constexpr Types kAll = kNumbers | kBools;
inline constexpr Types kVariants = {DataType::kVariant};

// The name of a StableHLO op, as an argument of a template.
struct OpName {
  template <size_t N>
  consteval OpName(const char (&name)[N]) {  // NOLINT: a literal is the name
    static_assert(N <= sizeof(text));
    for (size_t i = 0; i < N; ++i) text[i] = name[i];
  }
  char text[24] = {};
};

// Writes the node and sets its outputs. Shape inference has run.
using LowerFn = absl::Status (*)(Op& op);
// Why a node cannot be lowered, for reasons that neither op nor types tell; empty if it can.
using RefuseFn = std::string (*)(const Graph& graph, NodeId n);

// The further inputs of a node that must be known, as bits of In; bit 63 stands for each input from
// 63 on. Their types must be among Row::types.
using ConstantsFn = uint64_t (*)(const Graph& graph, NodeId n);

// Bits of Row::constants, Row::any and what a ConstantsFn returns, for inputs below 63. Of
// Row::constants bit 63 is kLastInput; of Row::any it stands for each input from 63 on.
constexpr uint64_t In(int i) { return uint64_t{1} << i; }
inline constexpr uint64_t kLastInput = uint64_t{1} << 63;

struct Row {
  std::string_view op;
  // Null for an op whose results have shapes that depend on values: it is lowered only where its
  // operands are constants, and then computed when the program is compiled.
  LowerFn lower = nullptr;
  // The types that inputs and outputs may have, but for those in `constants` and `any`.
  Types types = kNumbers;
  uint64_t constants = 0;   // inputs that must be known when the program is compiled
  uint64_t any = 0;         // inputs of any type: the op does not read them, or has its own rule
  bool shape_only = false;  // reads the shapes of its inputs and nothing else
  RefuseFn refuse = nullptr;
  ConstantsFn more_constants = nullptr;  // further inputs that must be known, by node
};

// Null if the op has no row: it cannot be lowered, unless it is Const or a function of the graph.
const Row* FindRow(std::string_view op);
// All rows, in no order.
std::vector<const Row*> AllRows();

using Rows = absl::Span<const Row>;
// The families, one for each source of its name.
Rows UnaryRows();
Rows BinaryRows();
Rows CastRows();
Rows ArrayRows();
Rows SliceRows();
Rows ShapeRows();
Rows ProductRows();
Rows ConvolutionRows();
Rows PoolRows();
Rows NormalizationRows();
Rows ReductionRows();
Rows IndexRows();
Rows ImageRows();
Rows SortRows();
Rows MatrixRows();
Rows EliminationRows();
Rows RandomRows();
Rows SegmentRows();
Rows QuantizeRows();
Rows FusedRows();
Rows ControlFlowRows();
Rows LoopRows();
Rows ListRows();

}  // namespace tenon::stablehlo
