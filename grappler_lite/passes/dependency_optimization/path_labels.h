// Answers which nodes of an acyclic graph reach which, in one sweep along the graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

// A node is named by its place in a topological order. Chains cover the nodes with later questions:
// in a chain each node is reachable from the one before. The label of a node has one entry for each
// chain: the last place of the chain from which the node is reachable. Entries that no later
// question needs are dropped, so that a label is as long as the graph is wide there. A label keeps
// at most 256 entries, the latest places, and fewer once all labels together take 32 MiB and 128
// bytes for each node; where no path is known from a dropped place, or from an earlier one, the
// answer is kUnknown. Not thread-safe.
class PathLabels {
 public:
  enum class Answer : uint8_t { kNoPath, kPath, kUnknown };

  // Both vectors are indexed by place and hold places.
  //   last_asked[p]  the last node for which a question is asked about a path from p; a value below
  //                  p: none.
  //   last_read[p]   the last node that reads p; a value below p: none.
  PathLabels(std::vector<int32_t> last_asked, std::vector<int32_t> last_read);

  // Adds the node of the next place. `inputs`: the places of its inputs, distinct, latest first.
  // Makes `answers` as long as `inputs`, and sets answers[i] to whether a path leads from inputs[i]
  // to another input. answers[i] is valid only if last_asked[inputs[i]] is at least the new place.
  void Add(std::span<const int32_t> inputs, std::vector<Answer>& answers);

 private:
  struct Entry {
    int32_t chain, place;
  };

  void Reach(Entry entry);
  void AppendToChain(int32_t place);
  void Keep(int32_t place);
  void Forget(int32_t place);

  const std::vector<int32_t> last_read_;
  std::vector<int32_t> last_asked_;  // the latest for a node and the nodes before it in its chain
  std::vector<int32_t> chain_;       // by place; -1: in no chain
  std::vector<int32_t> unknown_;     // by place: the last place that its label may lack
  std::vector<std::vector<Entry>> labels_;
  int32_t next_ = 0;
  size_t kept_ = 0;  // entries in labels_
  // By chain.
  std::vector<int32_t> tail_;
  std::vector<int32_t> reached_by_;  // the last node that was reached from the chain,
  std::vector<int32_t> reached_;     // and from where in the chain
  std::vector<int32_t> chains_;      // the chains that reach the current node
  int32_t unknown_here_ = -1;
};

}  // namespace tenon
