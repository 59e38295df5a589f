// Constants of which nobody has asked yet what is known of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

struct TensorInfo;

// What shape inference knows of constants, decoded from their attributes when somebody asks: most
// of the constants that a program makes are never asked for. Add is not thread-safe, Info is.
// Copies decode anew. The storage of the graph must outlive the object.
class LateConstants {
 public:
  LateConstants();
  LateConstants(const LateConstants& other);
  LateConstants& operator=(const LateConstants& other);
  LateConstants(LateConstants&&) noexcept;
  LateConstants& operator=(LateConstants&&) noexcept;
  ~LateConstants();

  // Takes a kind in that is a small constant which is sure to decode. False, and nothing happens,
  // for any other kind, and for one whose index another storage has used.
  bool Add(const NodeKind& kind);
  // What is known of the output of the kind with this index, which Add has taken in. The reference
  // is valid as long as the object.
  const TensorInfo& Info(uint32_t index) const;

 private:
  struct Decoded;

  std::vector<const NodeKind*> kinds_;        // by index; null: not taken in
  mutable std::unique_ptr<Decoded> decoded_;  // null as long as kinds_ is empty
};

}  // namespace tenon
