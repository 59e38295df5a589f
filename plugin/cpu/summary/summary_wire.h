// The field numbers of TensorFlow's Summary message, and functions that add values to a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/wire/wire.h"

namespace tenon::cpu {

// A field number of Summary.
inline constexpr uint32_t kSummaryValue = 1;

// The field numbers of Summary.Value, but for 3, which is obsolete.
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

// Appends one value to the message in wire format. add(writer) writes the value's fields, the
// lowest number first, as TensorFlow's serializer does.
template <typename F>
void AddSummaryValue(std::string* summary, F add) {
  std::string value;
  WireWriter fields(&value);
  add(fields);
  WireWriter(summary).Bytes(kSummaryValue, value);
}

// Writes a string field, unless `text` is empty.
inline void WriteText(WireWriter& fields, uint32_t number, std::string_view text) {
  if (!text.empty()) fields.Bytes(number, text);
}

}  // namespace tenon::cpu
