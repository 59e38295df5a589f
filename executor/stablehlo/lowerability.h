// Says which nodes can be lowered to StableHLO, before shapes are known: for forming clusters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon::stablehlo {

// Why a node cannot be lowered.
enum class Refusal : uint8_t {
  kNone,     // it can
  kOp,       // no lowering for the op, or the node's types are not known
  kType,     // not in this type
  kAttr,     // not with these attributes
  kState,    // the op reads or changes state, or answers anew each time
  kDynamic,  // the shape of a result depends on values that are known in the run only
  // A function that it calls has a node that cannot be lowered, calls itself, is nested too deep or
  // cannot be read.
  kFunction,
};

// "OP", "TYPE" and so on: the code of a reason.
std::string_view RefusalCode(Refusal refusal);

struct Verdict {
  Refusal refusal = Refusal::kNone;
  std::string detail;  // for people: "no lowering for op StringJoin", "DT_STRING"; empty for kNone
  bool ok() const { return refusal == Refusal::kNone; }
};

// Answers from the op, the attributes, the types and the functions that are called alone; shapes
// need not be known. Remembers answers by kind of node. `graph` must outlive it and must not be
// edited meanwhile. Not thread-safe.
class Lowerability {
 public:
  explicit Lowerability(const Graph& graph);
  ~Lowerability();

  // Whether node n can be lowered as part of a cluster. A node of type variant (TensorList ops) can
  // be lowered while no variant crosses the border of the cluster; see CrossesBorder.
  // The answer lives as long as this object.
  const Verdict& Ask(NodeId n);

  // The data inputs of node n whose values must be known when the program is compiled, in
  // ascending order: shapes, axes, paddings, and arguments that nodes of a function must know.
  // Arguments that change in a loop are left out: they are not known there.
  std::vector<int> ConstantInputs(NodeId n);

 private:
  struct Memo;
  std::unique_ptr<Memo> memo_;
};

// What a program fuses, by the groups of TensorFlow's flag --tf_xla_ops_to_cluster.
enum class OpGroup : uint8_t {
  kNone,
  kPointwise,
  kReduction,
  kMisc,
  kReduceWindow,
  kNormalization
};
// kNone for an op of no group, and for one of which Lowerability knows nothing.
OpGroup GroupOf(std::string_view op);

// Whether a value of this type may be an argument or a result of a program: the numbers of kNumbers
// (rows.h) and booleans may, others, such as quantized numbers, variants and strings, may not.
bool CrossesBorder(DataType dtype);

// What a cluster needs to know when it is compiled.
struct ConstantNeeds {
  // Outputs of nodes outside the cluster whose values decide shapes inside it: Argument::value must
  // be given for them, and they are part of the signature. Those of Const nodes are left out. Each
  // stands once.
  std::vector<Output> outside;
};
// `nodes` are those of the cluster. Follows inputs that must be known back through nodes of the
// cluster, and stops where shapes alone give the value (Shape, Size, Rank). Linear in the cluster
// and, the first time, in the functions that it calls.
ConstantNeeds FindConstantNeeds(const Graph& graph, absl::Span<const NodeId> nodes,
                                Lowerability& lowerability);

}  // namespace tenon::stablehlo
