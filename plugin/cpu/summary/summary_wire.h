// The fields of TensorFlow's Summary message, and how values are added to one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/wire/wire.h"

namespace tenon::cpu {

// Of Summary.
inline constexpr uint32_t kSummaryValue = 1;

// Of Summary.Value.
enum SummaryField : uint32_t {
  kTag = 1,
  kSimpleValue = 2,
  kImage = 4,
  kHistogram = 5,
  kAudio = 6,
  kNodeName = 7,
  kTensor = 8,
  kMetadata = 9,
};

// Adds one value: add(writer) writes its fields, lowest number first.
template <typename F>
void AddSummaryValue(std::string* summary, F add) {
  std::string value;
  WireWriter fields(&value);
  add(fields);
  WireWriter(summary).Bytes(kSummaryValue, value);
}

// A string field; left out if it is empty.
inline void WriteText(WireWriter& fields, uint32_t number, std::string_view text) {
  if (!text.empty()) fields.Bytes(number, text);
}

}  // namespace tenon::cpu
