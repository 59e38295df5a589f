// Parses the body of a function of the library, as the bytes have it: attributes may still hold
// placeholders such as "$T", which the attributes of a call fill in, and inputs are texts such as
// "argument", "node:result:0" or "^node". All functions are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// A node of a body. All views are of the function's bytes, `op` of the graph or of the registry.
struct BodyNode {
  std::string_view name;
  std::string_view op_name;
  std::string_view device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;      // sorted by name; of equal names the last counts
  std::string_view debug_info;  // NodeDef.experimental_debug_info with its tag; may be empty
  const OpDef* op = nullptr;    // a function's signature or a registered op; null: neither
};

struct FunctionBody {
  std::vector<BodyNode> nodes;
  // The results by name, in the order of the bytes; names may repeat. value.wire() is no AttrValue
  // but the input text that fills the result.
  std::vector<Attr> returns;
  // The control outputs in the same form; value.wire() is the name of a node.
  std::vector<Attr> control_returns;
  std::vector<Attr> attrs;  // the function's own, such as _noinline; sorted as in BodyNode
};

// Parses the body of `function`, in the order of the bytes. Leaves out, in each message, the first
// malformed field and what follows it: the verifier reports defects of the bytes. The ops of nodes
// are looked up in `graph` and in the registry. The result views the function's bytes.
FunctionBody ParseFunctionBody(const Graph& graph, const FunctionEntry& function);

// Returns the attributes of the function's arguments, such as _output_shapes, by the number of the
// argument, from 0; arguments for which the bytes have no entry are left out. Views of the
// function's bytes.
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
