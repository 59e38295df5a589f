// A message that comes in pieces.
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace tenon {

// Merges the values of a field that holds a message and stands several times, as protobuf does: the
// pieces, one behind the other, are the bytes of the merged message. Takes time linear in them.
class MergedMessage {
 public:
  // `piece` must stay valid until Bytes was called, and where it is the only piece that is not
  // empty, as long as what Bytes returns.
  void Add(std::string_view piece) {
    if (joined_.empty() && first_.empty()) {
      first_ = piece;
    } else {
      if (joined_.empty()) joined_ = first_;
      joined_.append(piece);
    }
  }
  // Returns the only piece itself. Of several returns `keep` of their bytes, which live as long as
  // this object.
  std::string_view Bytes(absl::FunctionRef<std::string_view(std::string_view)> keep) const {
    return joined_.empty() ? first_ : keep(joined_);
  }

 private:
  std::string_view first_;
  std::string joined_;
};

}  // namespace tenon
