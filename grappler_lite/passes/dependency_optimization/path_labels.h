// Which nodes of an acyclic graph lie behind which, found in one sweep along it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

// Nodes are known by their places in a topological order. They are covered with chains, in each of
// which every node is reached from the one before; a node's label has, for each chain, the last
// place of it that the node is reached from. A label forgets what is not asked for any more, so it
// is as long as the graph is wide there. Of a longer one the latest places are kept.
class PathLabels {
 public:
  enum class Answer : uint8_t { kNoPath, kPath, kUnknown };

  // last_asked[p]: the last node that is asked whether p reaches it over others, or less than p for
  // none; last_read[p]: the last one that reads p.
  PathLabels(std::vector<int32_t> last_asked, std::vector<int32_t> last_read);

  // The next place, in order, with what it reads: distinct places, latest first. answers[i] says
  // whether a path leads from inputs[i] over another of the inputs, where that may be asked.
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
  std::vector<int32_t> last_asked_;  // of a node or one before it in its chain
  std::vector<int32_t> chain_;       // by place; -1: in none
  std::vector<int32_t> unknown_;     // by place: up to where its label may lack something
  std::vector<std::vector<Entry>> labels_;
  int32_t next_ = 0;
  size_t kept_ = 0;  // entries in labels_
  // By chain.
  std::vector<int32_t> tail_;
  std::vector<int32_t> reached_by_;  // the last node that was reached from the chain,
  std::vector<int32_t> reached_;     // and from where in the chain
  std::vector<int32_t> chains_;      // that reach the node at hand
  int32_t unknown_here_ = -1;
};

}  // namespace tenon
