// The attributes that a caller has given an op, in a form that is cheap to fill, to hash and to
// compare. Private to executor/api/eager/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_def.h"

namespace tenon::eager {

// If an attribute is set or inferred several times, the first value counts. Attributes that the
// OpDef does not have are kept too. Not thread-safe.
class OpAttrs {
 public:
  // Removes all attributes. Later ones are those of `def`, which must live until the next Reset or
  // the end of this object. Null: no OpDef.
  void Reset(const OpDef* def);

  // Copies `wire`, the AttrValue bytes of the value.
  void Set(std::string_view name, std::string_view wire);
  // Sets attribute `index` of the OpDef, which must be there, to `type`, which follows from the
  // types of the op's inputs alone. hash() and SameGiven leave the attribute out, also after a
  // later Set.
  void InferType(int index, DataType type);

  // A hash of the attributes whose value is from Set, and whether `other`, of the same OpDef, has
  // the same ones with the same bytes. The order of the calls of Set does not matter.
  uint64_t hash() const { return hash_; }
  bool SameGiven(const OpAttrs& other) const;

  bool empty() const { return slots_.empty(); }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // AttrValue bytes; nullopt if the attribute is neither set nor inferred.
  std::optional<std::string> Get(std::string_view name) const;
  // All attributes, set and inferred, sorted by name. The names are views of the OpDef and of this
  // object, valid until the next Set or Reset. The values are copies.
  NewAttrs All() const;

 private:
  static constexpr int kNotInOp = -1;
  struct Slot {
    int index = kNotInOp;                    // of OpDef::attrs
    DataType inferred = DataType::kInvalid;  // of InferType; else in `bytes_`:
    size_t name = 0, begin = 0, end = 0;     // a name that the OpDef lacks, and the value
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  std::string_view NameOf(const Slot& slot) const;
  std::string_view Given(const Slot& slot) const {
    return std::string_view(bytes_).substr(slot.begin, slot.end - slot.begin);
  }
  std::string WireOf(const Slot& slot) const;
  const Slot* Find(std::string_view name) const;
  bool Has(int index) const;
  // The index of the attribute in the OpDef, else kNotInOp.
  int IndexOf(std::string_view name) const;

  const OpDef* def_ = nullptr;
  absl::InlinedVector<Slot, 6> slots_;
  std::string bytes_;
  uint64_t hash_ = 0;
};

}  // namespace tenon::eager
