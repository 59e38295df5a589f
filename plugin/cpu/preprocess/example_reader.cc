#include "plugin/cpu/preprocess/example_reader.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/wire/wire.h"
#include "plugin/cpu/base/string_element.h"

namespace tenon::cpu {
namespace {

// Features of both kinds of messages are read by the same functions.
absl::Status Malformed() {
  return absl::InvalidArgumentError("the string is no tf.Example or tf.SequenceExample");
}

bool IsMessage(const WireField& field, uint32_t number) {
  return field.number == number && field.type == WireType::kBytes;
}

// The last of the lists that a feature holds.
absl::Status ReadFeature(std::string_view wire, FeatureList* list) {
  // Feature is a `oneof` of bytes_list = 1, float_list = 2 and int64_list = 3.
  constexpr DataType kTypes[] = {DataType::kString, DataType::kFloat, DataType::kInt64};
  WireReader reader(wire);
  for (WireField field; reader.Next(&field);) {
    if (field.number >= 1 && field.number <= 3 && field.type == WireType::kBytes)
      *list = {kTypes[field.number - 1], field.bytes};
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

// Calls visit(name, value) for each entry of the maps that field `number` of the message holds.
absl::Status ReadMaps(std::string_view message, uint32_t number,
                      absl::FunctionRef<absl::Status(std::string_view, std::string_view)> visit) {
  WireReader messages(message);
  for (WireField map; messages.Next(&map);) {
    if (!IsMessage(map, number)) continue;
    WireReader entries(map.bytes);
    for (WireField entry; entries.Next(&entry);) {
      if (!IsMessage(entry, 1)) continue;
      // Empty, but not null: an entry without a value differs from a name that is not there.
      std::string_view name, value("");
      WireReader parts(entry.bytes);
      for (WireField part; parts.Next(&part);) {
        if (IsMessage(part, 1)) name = part.bytes;
        if (IsMessage(part, 2)) value = part.bytes;
      }
      if (!parts.ok()) return Malformed();
      TENON_RETURN_IF_ERROR(visit(name, value));
    }
    if (!entries.ok()) return Malformed();
  }
  return messages.ok() ? absl::OkStatus() : Malformed();
}

}  // namespace

absl::Status ReadExample(std::string_view example,
                         absl::FunctionRef<void(std::string_view, FeatureList)> visit) {
  constexpr uint32_t kFeatures = 1;
  return ReadMaps(example, kFeatures, [&](std::string_view name, std::string_view wire) {
    FeatureList list;
    TENON_RETURN_IF_ERROR(ReadFeature(wire, &list));
    visit(name, list);
    return absl::OkStatus();
  });
}

absl::Status ReadFeatureLists(std::string_view example,
                              absl::FunctionRef<void(std::string_view, std::string_view)> visit) {
  constexpr uint32_t kFeatureLists = 2;
  return ReadMaps(example, kFeatureLists, [&](std::string_view name, std::string_view wire) {
    visit(name, wire);
    return absl::OkStatus();
  });
}

absl::Status ReadSteps(std::string_view wire, absl::FunctionRef<absl::Status(FeatureList)> visit) {
  WireReader reader(wire);
  for (WireField step; reader.Next(&step);) {
    if (!IsMessage(step, 1)) continue;
    FeatureList list;
    TENON_RETURN_IF_ERROR(ReadFeature(step.bytes, &list));
    TENON_RETURN_IF_ERROR(visit(list));
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

// Numbers may be packed or not, even in one list.
absl::Status FeatureValues::Append(const FeatureList& list) {
  if (list.type != type_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its values are of type ", DataTypeName(list.type), ", not ", DataTypeName(type_)));
  }
  WireReader reader(list.wire);
  for (WireField field; reader.Next(&field);) {
    if (field.number != 1) continue;
    const std::string_view bytes = field.bytes;
    if (type_ == DataType::kString && field.type == WireType::kBytes) {
      strings_.push_back(bytes);
    } else if (type_ == DataType::kFloat && field.type == WireType::kFixed32) {
      const auto bits = static_cast<uint32_t>(field.scalar);
      memcpy(&floats_.emplace_back(), &bits, sizeof(bits));
    } else if (type_ == DataType::kFloat && field.type == WireType::kBytes) {
      if (bytes.size() % sizeof(float) != 0) return Malformed();
      const size_t before = floats_.size();
      floats_.resize(before + bytes.size() / sizeof(float));
      // Packed floats are little-endian, as this machine is.
      if (!bytes.empty()) memcpy(floats_.data() + before, bytes.data(), bytes.size());
    } else if (type_ == DataType::kInt64 && field.type == WireType::kVarint) {
      ints_.push_back(static_cast<int64_t>(field.scalar));
    } else if (type_ == DataType::kInt64 && field.type == WireType::kBytes) {
      const char* at = bytes.data();
      const char* const end = at + bytes.size();
      while (at < end) {
        uint64_t value;
        if (!WireReader::ReadVarint(&at, end, &value)) return Malformed();
        ints_.push_back(static_cast<int64_t>(value));
      }
    } else {
      return Malformed();
    }
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

int64_t FeatureValues::size() const {
  return static_cast<int64_t>(ints_.size() + floats_.size() + strings_.size());
}

void FeatureValues::Store(int64_t from, void* out, int64_t to) const {
  switch (type_) {
    case DataType::kString:
      return PutString(out, to, strings_[from]);
    case DataType::kFloat:
      static_cast<float*>(out)[to] = floats_[from];
      return;
    default:
      static_cast<int64_t*>(out)[to] = ints_[from];
  }
}

}  // namespace tenon::cpu
