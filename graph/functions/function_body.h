// Parses the body of a function of the library, as the bytes have it: attributes may still hold
// placeholders such as "$T", which the attributes of a call fill in, and inputs are texts such as
// "argument", "node:result:0" or "^node". All functions are thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Op and attributes of nodes of a body. All views are of the function's bytes, `op` of the graph or
// of the registry.
struct BodyKind {
  std::string_view op_name;
  const OpDef* op = nullptr;  // a function's signature or a registered op; null: neither
  AttrSet attrs;              // of equal names in the bytes the last counts
};

// A node of a body. All views are of the function's bytes.
struct BodyNode {
  std::string_view name;
  std::string_view device;
  std::string_view debug_info;  // NodeDef.experimental_debug_info with its tag; may be empty
  absl::Span<const std::string_view> inputs;  // of FunctionBody::inputs
  // Of FunctionBody::kinds, never null. Equal addresses mean equal kinds; the reverse must not be
  // relied on.
  const BodyKind* kind = nullptr;

  std::string_view op_name() const { return kind->op_name; }
  const OpDef* op() const { return kind->op; }
  const AttrSet& attrs() const { return kind->attrs; }
};

// Can be moved, not copied: nodes point into `kinds` and `inputs`.
struct FunctionBody {
  FunctionBody() = default;
  FunctionBody(FunctionBody&&) = default;
  FunctionBody& operator=(FunctionBody&&) = default;

  std::vector<BodyNode> nodes;
  std::vector<std::unique_ptr<const BodyKind>> kinds;
  std::vector<std::string_view> inputs;  // of all nodes, one node behind the other
  // The results by name, in the order of the bytes; names may repeat. value.wire() is no AttrValue
  // but the input text that fills the result.
  std::vector<Attr> returns;
  // The control outputs in the same form; value.wire() is the name of a node.
  std::vector<Attr> control_returns;
  std::vector<Attr> attrs;  // the function's own, such as _noinline; sorted by name
};

// Parses the body of `function`, in the order of the bytes. Leaves out, in each message, the first
// malformed field and what follows it: the verifier reports defects of the bytes. The ops of nodes
// are looked up in `graph` and in the registry. The result views the function's bytes.
FunctionBody ParseFunctionBody(const Graph& graph, const FunctionEntry& function);

// Returns the attributes of the function's arguments, such as _output_shapes, by the number of the
// argument, from 0; arguments for which the bytes have no entry are left out. Of several entries
// for one argument the last counts. Views of the function's bytes.
absl::flat_hash_map<uint64_t, AttrSet> ParseArgAttrs(const FunctionEntry& function);

// Returns the input text that fills each result, by the name of the result; of equal names the
// first counts. Views of `returns`' bytes.
absl::flat_hash_map<std::string_view, std::string_view> SourcesOfResults(
    const std::vector<Attr>& returns);

// Returns the attributes of `func`, sorted by name; of equal names the last counts. Views of the
// bytes of `func`.
AttrSet ParseFuncAttrs(const FuncAttr& func);

// Returns the bytes of `value` with each placeholder ("$T") replaced by the value of that name in
// `arguments`, also in the attributes of functions that `value` names. Returns nullopt if there is
// no placeholder. INVALID_ARGUMENT names a placeholder that `arguments` lacks, or says that
// functions are nested more than 32 deep.
absl::StatusOr<std::optional<std::string>> BindAttr(AttrValue value, const AttrSet& arguments);

}  // namespace tenon
