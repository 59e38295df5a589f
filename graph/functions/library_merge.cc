#include "graph/functions/library_merge.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_fields.h"
#include "graph/ir/library_access.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/versions.h"
#include "graph/wire/wire.h"
#include "proto/function.pb.h"

namespace tenon {
namespace {

// One form for all functions that say the same; "" for bytes that do not parse. Equal functions may
// have different bytes: protobuf writes the entries of a map in any order, and the order of the
// nodes means nothing.
std::string CanonicalFunction(std::string_view wire) {
  pb::FunctionDef function;
  if (!function.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) return {};
  std::sort(function.mutable_node_def()->pointer_begin(),
            function.mutable_node_def()->pointer_end(),
            [](const pb::NodeDef* a, const pb::NodeDef* b) { return a->name() < b->name(); });
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  function.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

absl::Status CannotAdd(std::string_view name, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("Cannot add function '", name, "' because ", why, "."));
}

// The gradients that a library states, by function.
using Gradients = absl::flat_hash_map<std::string_view, std::string_view>;

// Of two gradients of one function, the first counts. The views live as long as the graph's
// storage.
Gradients StatedGradients(const Graph& graph) {
  Gradients gradients;
  WireReader reader(LibraryAccess::LibraryExtra(graph));
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kGradient || f.type != WireType::kBytes) continue;
    const GradientPair pair = ParseGradientPair(f.bytes);
    gradients.try_emplace(pair.first, pair.second);
  }
  return gradients;
}

// Adds the pair to the bytes of a library in which the function has the gradient `had`, or none.
absl::Status AppendGradient(const GradientPair& pair, std::string_view had, std::string* library) {
  if (had == pair.second) return absl::OkStatus();
  if (!had.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot assign gradient function '", pair.second, "' to '", pair.first,
                     "' because it already has gradient function '", had, "'"));
  }
  std::string entry;
  WireWriter writer(&entry);
  writer.Bytes(kPairFirst, pair.first);
  writer.Bytes(kPairSecond, pair.second);
  WireWriter(library).Bytes(kGradient, entry);
  return absl::OkStatus();
}

}  // namespace

// Readers of GraphDefs know functions from version 12 on.
void NeedReaderOfFunctions(Graph& graph) {
  constexpr int kFirst = 12;
  Versions versions = ParseVersions(graph.versions_wire());
  if (versions.min_consumer >= kFirst) return;
  versions.min_consumer = kFirst;
  graph.SetVersions(VersionsToWire(versions));
}

LibraryState::LibraryState(const Graph& graph)
    : functions_(graph.functions()),
      extra_(LibraryAccess::LibraryExtra(graph)),
      versions_(graph.versions_wire()) {}

// A kind that was interned while a function was there refers to the function's signature. A node
// that is added later under this op name must not find the kind, since the op is then another one
// or unknown.
void LibraryState::Restore(Graph& graph) const {
  const size_t had = functions_.size();
  for (size_t i = had; i < graph.functions().size(); ++i)
    LibraryAccess::ForgetKinds(graph, graph.functions()[i].name);
  if (graph.functions().size() != had) LibraryAccess::SetFunctions(graph, functions_);
  LibraryAccess::SetLibraryExtra(graph, extra_);
  if (graph.versions_wire() != versions_) graph.SetVersions(versions_);
}

bool SameFunction(std::string_view wire, std::string_view other) {
  if (wire == other) return true;
  const std::string canonical = CanonicalFunction(wire);
  return !canonical.empty() && canonical == CanonicalFunction(other);
}

absl::Status AddFunction(Graph& graph, std::string_view wire) {
  const FunctionEntry function =
      LibraryAccess::ReadFunction(LibraryAccess::Keep(graph, wire), {}, graph);
  if (function.signature == nullptr || function.name.empty())
    return CannotAdd(function.name, "its signature is malformed");
  if (const FunctionEntry* had = graph.FindFunction(function.name)) {
    return SameFunction(had->wire, wire)
               ? absl::OkStatus()
               : CannotAdd(function.name, "a different function with the same name already exists");
  }
  if (OpRegistry::Global().Find(function.name) != nullptr)
    return CannotAdd(function.name, "an op with the same name already exists");
  LibraryAccess::PutFunction(graph, function);
  NeedReaderOfFunctions(graph);
  return absl::OkStatus();
}

std::string_view GradientOf(const Graph& graph, std::string_view function) {
  const Gradients gradients = StatedGradients(graph);
  const auto it = gradients.find(function);
  return it == gradients.end() ? std::string_view() : it->second;
}

absl::Status AddGradientOf(Graph& graph, std::string_view function, std::string_view gradient) {
  std::string extra(LibraryAccess::LibraryExtra(graph));
  TENON_RETURN_IF_ERROR(AppendGradient({function, gradient}, GradientOf(graph, function), &extra));
  LibraryAccess::SetLibraryExtra(graph, extra);
  return absl::OkStatus();
}

absl::Status AddLibrary(Graph& graph, std::string_view library) {
  // The graph gets the gradients and other fields once: it keeps each text that it was given.
  std::string extra(LibraryAccess::LibraryExtra(graph));
  Gradients gradients = StatedGradients(graph);
  WireReader reader(library);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kLibraryFunction && f.type == WireType::kBytes) {
      TENON_RETURN_IF_ERROR(AddFunction(graph, f.bytes));
    } else if (f.number == kGradient && f.type == WireType::kBytes) {
      const GradientPair pair = ParseGradientPair(f.bytes);
      TENON_RETURN_IF_ERROR(AppendGradient(pair, gradients[pair.first], &extra));
      gradients[pair.first] = pair.second;
    } else {
      extra.append(f.raw);
    }
  }
  LibraryAccess::SetLibraryExtra(graph, extra);
  return absl::OkStatus();
}

void RemoveFunction(Graph& graph, std::string_view name) {
  std::vector<FunctionEntry> kept = graph.functions();
  const auto is_it = [name](const FunctionEntry& f) { return f.name == name; };
  if (std::erase_if(kept, is_it) == 0) return;
  std::string extra;
  WireReader reader(LibraryAccess::LibraryExtra(graph));
  WireField f;
  while (reader.Next(&f)) {
    const bool is_gradient = f.number == kGradient && f.type == WireType::kBytes;
    if (!is_gradient || ParseGradientPair(f.bytes).first != name) extra.append(f.raw);
  }
  LibraryAccess::ForgetKinds(graph, name);
  LibraryAccess::SetFunctions(graph, std::move(kept));
  LibraryAccess::SetLibraryExtra(graph, extra);
}

}  // namespace tenon
