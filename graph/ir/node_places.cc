// Debug info is read and written as wire bytes.
#include "graph/ir/node_places.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// original_node_names and original_func_names.
constexpr uint32_t kNames = 1, kPlaces = 2;
constexpr size_t kMostPlaces = 16;
constexpr size_t kMostTaken = 256;  // nodes that are looked at for one node

// The bytes of the debug info; empty if there is none.
std::string_view InfoOf(const Graph& graph, NodeId n) {
  std::string_view info;
  WireReader reader(graph.extra(n));
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kDebugInfoField && f.type == WireType::kBytes) info = f.bytes;
  }
  return info;
}

void SetInfo(Graph& graph, NodeId n, std::string_view info) {
  std::string extra;
  WireReader reader(graph.extra(n));
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kDebugInfoField) extra.append(f.raw);
  }
  WireWriter(&extra).Bytes(kDebugInfoField, info);
  graph.SetExtra(n, extra);
}

// Appends what `info` has and `out` has not.
template <typename Strings>
void AppendNew(std::string_view info, uint32_t field, Strings& out) {
  WireReader reader(info);
  WireField f;
  while (reader.Next(&f) && out.size() < kMostPlaces) {
    if (f.number != field || f.type != WireType::kBytes || f.bytes.empty()) continue;
    if (std::ranges::find(out, f.bytes) == out.end()) out.emplace_back(f.bytes);
  }
}

// The nodes that n took in.
std::vector<NodeId> TakenBy(const Graph& before, const Graph& after, NodeId n) {
  std::vector<NodeId> taken = {n};
  absl::flat_hash_set<NodeId> seen = {n};
  for (size_t i = 0; i < taken.size() && taken.size() < kMostTaken; ++i) {
    for (const Output& in : before.data_inputs(taken[i])) {
      const bool is_gone = in.node >= after.num_node_ids() || !after.alive(in.node);
      if (is_gone && before.op_name(in.node) != "Const" && seen.insert(in.node).second)
        taken.push_back(in.node);
    }
  }
  return taken;
}

}  // namespace

std::string DebugInfo(std::string_view node, std::string_view place) {
  std::string info, field;
  info.reserve(node.size() + place.size() + 8);
  field.reserve(node.size() + place.size() + 16);
  WireWriter names(&info);
  names.Bytes(kNames, node);
  names.Bytes(kPlaces, place);
  WireWriter(&field).Bytes(kDebugInfoField, info);
  return field;
}

std::vector<std::string> PlacesOf(const Graph& graph, NodeId n) {
  std::vector<std::string> places;
  AppendNew(InfoOf(graph, n), kPlaces, places);
  return places;
}

std::string PlacesText(const Graph& graph, NodeId n) {
  return absl::StrJoin(PlacesOf(graph, n), ", ");
}

bool HasPlaces(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !InfoOf(graph, n).empty()) return true;
  }
  return false;
}

void CopyDebugInfo(const Graph& from, NodeId node, Graph& to, NodeId copy) {
  if (const std::string_view info = InfoOf(from, node); !info.empty()) SetInfo(to, copy, info);
}

void CarryPlaces(const Graph& before, Graph& after) {
  const NodeId count = std::min(before.num_node_ids(), after.num_node_ids());
  for (NodeId n = 0; n < count; ++n) {
    if (!before.alive(n) || !after.alive(n) || &before.kind(n) == &after.kind(n)) continue;
    const std::vector<NodeId> taken = TakenBy(before, after, n);
    if (taken.size() == 1) continue;
    std::vector<std::string> names, places;
    AppendNew(InfoOf(after, n), kNames, names);
    AppendNew(InfoOf(after, n), kPlaces, places);
    const size_t had = places.size();
    for (const NodeId from : taken) {
      if (before.op_name(from) == "Identity") continue;
      AppendNew(InfoOf(before, from), kNames, names);
      AppendNew(InfoOf(before, from), kPlaces, places);
    }
    if (places.size() == had) continue;
    std::string info;
    WireWriter writer(&info);
    for (const std::string& name : names) writer.Bytes(kNames, name);
    for (const std::string& place : places) writer.Bytes(kPlaces, place);
    SetInfo(after, n, info);
  }
}

}  // namespace tenon
