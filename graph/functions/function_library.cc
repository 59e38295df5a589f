// Which functions a graph reaches. Names of functions stand in attributes at any depth, within
// lists and within the attributes of other functions, so attributes are searched as bytes.

#include "graph/functions/function_library.h"

#include <functional>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "graph/functions/function_fields.h"
#include "graph/ir/library_access.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

constexpr std::string_view kGradientOfNode = "_gradient_op_type";

enum class Part : uint8_t { kAttr, kList, kFunc, kEntry };

// What a field of a message of this kind holds that may name functions.
std::optional<Part> PartOf(Part message, uint32_t field) {
  switch (message) {
    case Part::kAttr:
      if (field == kAttrList) return Part::kList;
      if (field == kAttrFunc) return Part::kFunc;
      break;
    case Part::kList:
      if (field == kListFunc) return Part::kFunc;
      break;
    case Part::kFunc:
      if (field == kFuncAttr) return Part::kEntry;
      break;
    case Part::kEntry:
      if (field == kValue) return Part::kAttr;
      break;
  }
  return std::nullopt;
}

// Whether `function` is an element of the graph's own list, as opposed to a shared one. By address:
// names may be equal.
bool Owns(const Graph& graph, const FunctionEntry& function) {
  const std::vector<FunctionEntry>& own = graph.functions();
  return !own.empty() && std::greater_equal<>()(&function, &own.front()) &&
         std::less_equal<>()(&function, &own.back());
}

// The functions that nodes and bodies reach, in the order of the walk. A list, not recursion:
// functions may call each other.
class Reach {
 public:
  // kOwn: only functions of the graph itself count. Shared functions never call one of these.
  enum class Of : uint8_t { kOwn, kAll };

  // `gradients` are the gradient entries of the library; empty: gradients do not count.
  Reach(const Graph& graph, std::string_view gradients, Of of) : graph_(graph), of_(of) {
    WireReader reader(gradients);
    WireField f;
    while (reader.Next(&f)) {
      if (f.type != WireType::kBytes) continue;
      const GradientPair entry = ParseGradientPair(f.bytes);
      if (f.number == kGradient) gradient_of_.emplace(entry.first, entry.second);
      if (f.number == kRegisteredGradient) registered_.emplace(entry.second, entry.first);
    }
  }

  void AddNode(std::string_view op, const std::vector<Attr>& attrs) {
    Add(op);
    for (const Attr& attr : attrs) {
      for (const std::string_view name : FunctionsNamedBy(attr.value)) Add(name);
      if (attr.name != kGradientOfNode) continue;
      const auto it = registered_.find(attr.value.AsString().value_or(std::string_view()));
      if (it != registered_.end()) Add(it->second);
    }
  }
  void AddNodes(const FunctionBody& body) {
    for (const BodyNode& node : body.nodes) AddNode(node.op_name(), node.attrs().all());
  }

  // Walks the bodies of the reached functions, and of the functions that they reach.
  void Follow() {
    for (; followed_ < reached_.size(); ++followed_) {
      const FunctionEntry function = reached_[followed_];
      AddNodes(ParseFunctionBody(graph_, function));
      if (const auto it = gradient_of_.find(function.name); it != gradient_of_.end())
        Add(it->second);
    }
  }

  bool Has(std::string_view name) const { return names_.contains(name); }
  std::vector<FunctionEntry> Take() && { return std::move(reached_); }

 private:
  void Add(std::string_view name) {
    const FunctionEntry* function = graph_.FindFunction(name);
    if (function == nullptr || (of_ == Of::kOwn && !Owns(graph_, *function))) return;
    if (names_.insert(function->name).second) reached_.push_back(*function);
  }

  const Graph& graph_;
  const Of of_;
  absl::flat_hash_map<std::string_view, std::string_view> gradient_of_, registered_;
  absl::flat_hash_set<std::string_view> names_;
  std::vector<FunctionEntry> reached_;
  size_t followed_ = 0;
};

// Returns the gradient entries of the library without those of removed functions.
std::string GradientsOf(const Graph& graph, std::string_view gradients) {
  std::string kept;
  WireReader reader(gradients);
  WireField f;
  while (reader.Next(&f)) {
    const bool names_function =
        f.type == WireType::kBytes && (f.number == kGradient || f.number == kRegisteredGradient);
    if (!names_function || graph.FindFunction(ParseGradientPair(f.bytes).first) != nullptr)
      kept.append(f.raw);
  }
  return kept;
}

}  // namespace

std::vector<std::string_view> FunctionsNamedBy(const AttrValue& value) {
  std::vector<std::string_view> names;
  absl::InlinedVector<std::pair<Part, std::string_view>, 8> work = {{Part::kAttr, value.wire()}};
  while (!work.empty()) {
    const auto [message, wire] = work.back();
    work.pop_back();
    WireReader reader(wire);
    WireField f;
    while (reader.Next(&f)) {
      if (f.type != WireType::kBytes) continue;
      if (message == Part::kFunc && f.number == kFuncName) names.push_back(f.bytes);
      if (const std::optional<Part> part = PartOf(message, f.number); part.has_value())
        work.emplace_back(*part, f.bytes);
    }
  }
  return names;
}

std::vector<std::string_view> CalledBy(std::string_view op, const AttrSet& attrs) {
  std::vector<std::string_view> functions = {op};
  for (const Attr& attr : attrs.all()) {
    for (const std::string_view name : FunctionsNamedBy(attr.value)) functions.push_back(name);
  }
  return functions;
}

std::optional<int> FirstArgument(CallKind calls) {
  switch (calls) {
    case CallKind::kNone:
    case CallKind::kFunction:
    case CallKind::kWhile:
      return 0;
    case CallKind::kIf:  // input 0 decides
    case CallKind::kCase:
      return 1;
    default:
      return std::nullopt;
  }
}

bool IsMarkedForXla(const AttrSet& attrs) {
  for (const char* name : {"_XlaMustCompile", "_xla_compile_id", "_tpu_replicate"}) {
    const AttrValue* attr = attrs.Find(name);
    if (attr != nullptr &&
        (attr->AsBool().value_or(false) || !attr->AsString().value_or("").empty()))
      return true;
  }
  return false;
}

std::vector<FunctionEntry> FunctionsToWrite(const Graph& graph) {
  // Only a body shares functions. Those that it reaches must be written with its own.
  if (LibraryAccess::Shared(graph) == nullptr) return graph.functions();
  Reach reach(graph, /*gradients=*/{}, Reach::Of::kAll);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) reach.AddNode(graph.op_name(n), graph.attrs(n).all());
  }
  reach.Follow();
  std::vector<FunctionEntry> functions = std::move(reach).Take();
  std::erase_if(functions,
                [&](const FunctionEntry& f) { return Owns(graph, *graph.FindFunction(f.name)); });
  functions.insert(functions.end(), graph.functions().begin(), graph.functions().end());
  return functions;
}

void PutFunctions(Graph& graph, absl::Span<const std::string> wires) {
  for (const std::string& wire : wires)
    LibraryAccess::PutFunction(
        graph, LibraryAccess::ReadFunction(LibraryAccess::Keep(graph, wire), SourcePos(), graph));
}

bool RemoveUnreachableFunctions(Graph& graph, absl::FunctionRef<bool()> may) {
  if (graph.functions().empty()) return false;
  Reach reach(graph, LibraryAccess::LibraryExtra(graph), Reach::Of::kOwn);
  absl::flat_hash_set<const NodeKind*> kinds;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    // Nodes of one kind name the same functions.
    if (graph.alive(n) && kinds.insert(&graph.kind(n)).second)
      reach.AddNode(graph.op_name(n), graph.attrs(n).all());
  }
  reach.Follow();
  std::vector<FunctionEntry> kept;
  for (const FunctionEntry& function : graph.functions()) {
    if (reach.Has(function.name)) kept.push_back(function);
  }
  if (kept.size() == graph.functions().size() || !may()) return false;
  LibraryAccess::SetFunctions(graph, std::move(kept));
  LibraryAccess::SetLibraryExtra(graph, GradientsOf(graph, LibraryAccess::LibraryExtra(graph)));
  return true;
}

}  // namespace tenon
