// The body of a function of the library, as its bytes have it: attributes may still hold "$T", and
// inputs are texts such as "argument", "node:result:0" or "^node".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// Views of the function's bytes.
struct BodyNode {
  std::string_view name;
  std::string_view op_name;
  std::string_view device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;    // sorted by name, the last of each
  const OpDef* op = nullptr;  // a function's signature or a registered op; null: unknown
};

struct FunctionBody {
  std::vector<BodyNode> nodes;
  std::vector<Attr> returns;          // the value is the bytes of a text, not of an AttrValue
  std::vector<Attr> control_returns;  // here too
  std::vector<Attr> attrs;            // the function's own, such as _noinline; sorted too
};

// Defects of the bytes are the verifier's business: what is malformed is left out.
FunctionBody ParseFunctionBody(const Graph& graph, const FunctionEntry& function);

// What the function notes of its arguments, such as _output_shapes, by their numbers.
absl::flat_hash_map<uint64_t, AttrSet> ParseArgAttrs(const FunctionEntry& function);

// What fills each result, by the result's name; of equal names the first.
absl::flat_hash_map<std::string_view, std::string_view> SourcesOfResults(
    const std::vector<Attr>& returns);

// The `attr` entries of a NameAttrList, sorted by name.
AttrSet ParseFuncAttrs(const FuncAttr& func);

// AttrValue bytes with their placeholders ("$T", also within functions that they name) replaced by
// `arguments`; nothing if there are none. INVALID_ARGUMENT names one that `arguments` lacks.
absl::StatusOr<std::optional<std::string>> BindAttr(AttrValue value, const AttrSet& arguments);

}  // namespace tenon
