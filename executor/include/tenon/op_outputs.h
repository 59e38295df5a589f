// The outputs of an op that has several, taken one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/op.h"
#include "tenon/operators.h"

namespace tenon::inline v0::internal {

// The constructor runs the op and throws its error. One and List hand out its outputs in the order
// of the op's definition. They throw INTERNAL if fewer outputs are left than they are to give. A
// `length` of 0 or less gives an empty list.
class OutputReader {
 public:
  explicit OutputReader(Op& op)
      : type_(op.call().type), where_(op.call().where), outputs_(op.Run()) {}

  Tensor One() {
    if (next_ == outputs_.size()) ThrowTooFew();
    return std::move(outputs_[next_++]);
  }
  // An output that is a list.
  std::vector<Tensor> List(int64_t length) {
    std::vector<Tensor> list;
    for (int64_t i = 0; i < length; ++i) list.push_back(One());
    return list;
  }

 private:
  [[noreturn]] void ThrowTooFew() {
    Throw(Error(TF_INTERNAL, "The op has fewer outputs than this header was written for", type_, {},
                where_));
  }

  const std::string type_;  // Run takes the call apart
  const Where where_;
  std::vector<Tensor> outputs_;
  size_t next_ = 0;
};

}  // namespace tenon::inline v0::internal
