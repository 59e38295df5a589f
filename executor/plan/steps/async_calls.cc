// Knows which calls are open while steps are added, by node, by storage and by resource. A step
// waits for an open call if it touches what the call fills or changes, or if its node follows the
// call's.

#include "executor/plan/steps/async_calls.h"

#include <algorithm>

namespace tenon {

void AsyncCalls::Begin(NodeId n, absl::Span<const int32_t> outputs,
                       absl::Span<const int32_t> effects) {
  const auto number = static_cast<int32_t>(calls_.size());
  const GraphStep& step = graph_.steps.back();
  calls_.push_back({.open = true,
                    .guard = step.guard,
                    .loop = step.loop,
                    .outputs = std::vector<int32_t>(outputs.begin(), outputs.end())});
  ++num_open_;
  for (const int32_t storage : outputs) by_storage_[storage].push_back(number);
  for (const int32_t storage : effects) by_storage_[storage].push_back(number);
  // Two handles of one resource may lie in two storages: the resource itself is a key too, where it
  // is known now.
  for (const Output& from : nodes_.data_inputs(n)) {
    if (const Object* const resource = ResourceOf(from)) by_resource_[resource].push_back(number);
  }
  of_node_[n].push_back(number);
}

const Object* AsyncCalls::ResourceOf(const Output& value) const {
  if (value.node == kNoNode || graph_.first_value[value.node] < 0) return nullptr;
  const PlanValue& v = graph_.values[graph_.ValueOf(value)];
  const bool is_known = v.constant != nullptr && v.dtype == DataType::kResource;
  return is_known && v.constant->num_elements() == 1 ? v.constant->ObjectAt(0) : nullptr;
}

template <typename Map, typename Key>
void AsyncCalls::AddOpen(const Map& map, Key key, CallList& calls) const {
  const auto found = map.find(key);
  if (found == map.end()) return;
  for (const int32_t call : found->second) {
    if (calls_[call].open && std::ranges::find(calls, call) == calls.end()) calls.push_back(call);
  }
}

void AsyncCalls::SetNodes(absl::Span<const NodeId> nodes) {
  before_nodes_.clear();
  if (!any()) return;
  for (const NodeId n : nodes) {
    for (const Output& from : nodes_.inputs(n)) AddOpen(of_node_, from.node, before_nodes_);
    for (const Output& from : nodes_.data_inputs(n)) {
      if (const Object* const resource = ResourceOf(from))
        AddOpen(by_resource_, resource, before_nodes_);
    }
  }
}

void AsyncCalls::EndNode(NodeId n, bool no_step) {
  if (!any()) return;
  CallList left;
  // A node without steps cannot wait: its readers wait in its place.
  if (no_step) left = before_nodes_;
  for (int port = 0; port < nodes_.num_outputs(n); ++port) {
    const int32_t storage = graph_.values[graph_.first_value[n] + port].storage;
    if (storage >= 0) AddOpen(by_storage_, storage, left);
  }
  // An empty list leaves the entry that Begin has made for a call without outputs.
  if (!left.empty()) of_node_[n] = std::move(left);
}

std::vector<int32_t> AsyncCalls::Before(absl::Span<const int32_t> inputs,
                                        absl::Span<const int32_t> outputs) const {
  CallList calls;
  for (const int32_t call : before_nodes_) {
    if (calls_[call].open) calls.push_back(call);
  }
  for (const int32_t storage : inputs) AddOpen(by_storage_, storage, calls);
  for (const int32_t storage : outputs) AddOpen(by_storage_, storage, calls);
  std::sort(calls.begin(), calls.end());
  return std::vector<int32_t>(calls.begin(), calls.end());
}

std::vector<int32_t> AsyncCalls::OfLoop() const {
  std::vector<int32_t> calls;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].open && calls_[i].loop == graph_.open_loop)
      calls.push_back(static_cast<int32_t>(i));
  }
  return calls;
}

void AsyncCalls::Waited(int32_t call, int32_t alive) {
  Call& waited = calls_[call];
  // A wait that may be skipped though the call was begun, or that stands in another loop, does not
  // close the call: later steps wait again. Frame::EndCall does nothing the second time.
  if (!graph_.flags.Implies(waited.guard, alive) || graph_.open_loop != waited.loop) return;
  if (waited.open) --num_open_;
  waited.open = false;
}

}  // namespace tenon
