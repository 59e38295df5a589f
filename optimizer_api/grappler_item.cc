// Lists of names in the form of TensorFlow's C API: a plug-in asks for the number of names and
// their bytes, allocates, and then asks for the names. Both questions compute the list anew.

#include "optimizer_api/grappler_item.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/ir/nodes.h"

namespace tenon {

std::vector<std::string> NodesToPreserve(const TF_GrapplerItem& item) {
  absl::flat_hash_set<std::string> names(item.item->keep);
  names.insert(item.item->feeds.begin(), item.item->feeds.end());
  for (const std::string& fetch : item.item->fetches) {
    std::string_view name = fetch;
    if (name.substr(0, 1) == "^") name.remove_prefix(1);
    names.emplace(name.substr(0, name.find(':')));
  }
  const Graph& g = *item.graph;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n) && MustStay(g, n)) names.emplace(g.name(n));
  }
  return {names.begin(), names.end()};
}

namespace {

void ListSize(const std::vector<std::string>& names, int* num_values, size_t* storage_size) {
  *num_values = static_cast<int>(names.size());
  *storage_size = 0;
  for (const std::string& name : names) *storage_size += name.size();
}

// Packs the names one after another, without NULs, as TensorFlow does.
absl::Status PackList(const std::vector<std::string>& names, char** values, size_t* lengths,
                      int num_values, void* storage, size_t storage_size) {
  char* out = static_cast<char*>(storage);
  const size_t count = std::min(names.size(), static_cast<size_t>(std::max(num_values, 0)));
  for (size_t i = 0; i < count; ++i) {
    values[i] = out;
    lengths[i] = names[i].size();
    // Written as a difference, which cannot overflow: `out` never leaves the storage.
    if (names[i].size() > storage_size - static_cast<size_t>(out - static_cast<char*>(storage))) {
      return absl::InvalidArgumentError("Not enough storage to hold the requested list of nodes");
    }
    std::memcpy(out, names[i].data(), names[i].size());
    out += names[i].size();
  }
  return absl::OkStatus();
}

// What the functions below need of their caller; else INVALID_ARGUMENT.
bool CanListSize(const TF_GrapplerItem* item, const int* num_values, const size_t* storage_size,
                 TF_Status* status) {
  return api::AllGiven({{"item", item}, {"num_values", num_values}, {"storage_size", storage_size}},
                       status);
}

bool CanList(const TF_GrapplerItem* item, char* const* values, const size_t* lengths,
             int num_values, const void* storage, size_t storage_size, TF_Status* status) {
  const int64_t count = std::max(num_values, 0);
  return api::AllGiven({{"item", item}}, status) && api::IsArray("values", values, count, status) &&
         api::IsArray("lengths", lengths, count, status) &&
         api::IsArray("storage", storage, storage_size == 0 ? 0 : 1, status);
}

}  // namespace
}  // namespace tenon

extern "C" {

void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item, int* num_values,
                                   size_t* storage_size, TF_Status* status) try {
  if (!tenon::CanListSize(item, num_values, storage_size, status)) return;
  tenon::ListSize(tenon::NodesToPreserve(*item), num_values, storage_size);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values, size_t* lengths,
                               int num_values, void* storage, size_t storage_size,
                               TF_Status* status) try {
  if (!tenon::CanList(item, values, lengths, num_values, storage, storage_size, status)) return;
  tenon::StatusToC(tenon::PackList(tenon::NodesToPreserve(*item), values, lengths, num_values,
                                   storage, storage_size),
                   status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values, size_t* storage_size,
                              TF_Status* status) try {
  if (!tenon::CanListSize(item, num_values, storage_size, status)) return;
  tenon::ListSize(item->item->fetches, num_values, storage_size);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values, size_t* lengths,
                          int num_values, void* storage, size_t storage_size,
                          TF_Status* status) try {
  if (!tenon::CanList(item, values, lengths, num_values, storage, storage_size, status)) return;
  tenon::StatusToC(
      tenon::PackList(item->item->fetches, values, lengths, num_values, storage, storage_size),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
