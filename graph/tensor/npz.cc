// Zip archives of .npy files, as much of the format as NumPy uses.
#include <zlib.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/npy.h"

namespace tenon {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50,
                   kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                 kLocator64Bytes = 20;

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a readable .npz archive: ", what));
}

uint64_t Load(std::string_view bytes, size_t at, size_t size) {
  uint64_t v = 0;
  for (size_t i = 0; i < size; ++i) v |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return v;
}

void Store(uint64_t value, size_t size, std::string* out) {
  for (size_t i = 0; i < size; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t Crc(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const size_t n = std::min<size_t>(bytes.size(), 1u << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(n));
    bytes.remove_prefix(n);
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

absl::StatusOr<NpzReader> NpzReader::Open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(FileBytes bytes, ReadFile(path, SIZE_MAX));
  absl::StatusOr<NpzReader> reader = FromBytes(std::move(bytes));
  if (!reader.ok()) return WithPath(path, reader.status());
  reader->path_ = path;
  return reader;
}

absl::StatusOr<NpzReader> NpzReader::FromBytes(FileBytes bytes) {
  NpzReader reader;
  reader.bytes_ = std::move(bytes);
  TENON_RETURN_IF_ERROR(reader.ReadDirectory());
  return reader;
}

absl::Status NpzReader::ReadDirectory() {
  const std::string_view b = bytes_.bytes;
  if (b.size() < kEndBytes) return Bad("it is too short");
  size_t end = b.size() - kEndBytes;
  const size_t first = b.size() > kEndBytes + 0xFFFF ? b.size() - kEndBytes - 0xFFFF : 0;
  while (Load(b, end, 4) != kEndMagic) {
    if (end == first) return Bad("it has no directory");
    --end;
  }
  uint64_t count = Load(b, end + 10, 2), at = Load(b, end + 16, 4);
  if (end >= kLocator64Bytes && Load(b, end - kLocator64Bytes, 4) == kLocator64Magic) {
    const uint64_t end64 = Load(b, end - kLocator64Bytes + 8, 8);
    if (end64 > b.size() || b.size() - end64 < kEnd64Bytes || Load(b, end64, 4) != kEnd64Magic)
      return Bad("its directory is damaged");
    count = Load(b, end64 + 32, 8);
    at = Load(b, end64 + 48, 8);
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (at > b.size() || b.size() - at < kCentralBytes || Load(b, at, 4) != kCentralMagic)
      return Bad("its directory is damaged");
    const size_t name = Load(b, at + 28, 2), extra = Load(b, at + 30, 2),
                 comment = Load(b, at + 32, 2);
    if (b.size() - at - kCentralBytes < name + extra + comment)
      return Bad("its directory is damaged");
    if ((Load(b, at + 8, 2) & 1) != 0)
      return absl::UnimplementedError("encrypted archives are not read");
    Entry e;
    e.name = std::string(absl::StripSuffix(b.substr(at + kCentralBytes, name), ".npy"));
    e.method = static_cast<int>(Load(b, at + 10, 2));
    e.crc = static_cast<uint32_t>(Load(b, at + 16, 4));
    e.packed = Load(b, at + 20, 4);
    e.size = Load(b, at + 24, 4);
    e.offset = Load(b, at + 42, 4);
    // Sizes that do not fit 32 bits stand in an extra field, in this order.
    const std::string_view fields = b.substr(at + kCentralBytes + name, extra);
    for (size_t f = 0; f + 4 <= fields.size();) {
      const size_t length = Load(fields, f + 2, 2);
      if (length > fields.size() - f - 4) break;
      size_t next = f + 4;
      if (Load(fields, f, 2) == 1) {
        for (uint64_t* value : {&e.size, &e.packed, &e.offset}) {
          if (*value != 0xFFFFFFFF || next + 8 > f + 4 + length) continue;
          *value = Load(fields, next, 8);
          next += 8;
        }
      }
      f += 4 + length;
    }
    entries_.push_back(std::move(e));
    at += kCentralBytes + name + extra + comment;
  }
  return absl::OkStatus();
}

std::vector<std::string> NpzReader::Keys() const {
  std::vector<std::string> keys;
  for (const Entry& e : entries_) keys.push_back(e.name);
  return keys;
}

absl::StatusOr<FileBytes> NpzReader::Extract(const Entry& e) const {
  const std::string_view b = bytes_.bytes;
  if (e.offset > b.size() || b.size() - e.offset < kLocalBytes ||
      Load(b, e.offset, 4) != kLocalMagic)
    return Bad("an entry is damaged");
  const uint64_t data =
      e.offset + kLocalBytes + Load(b, e.offset + 26, 2) + Load(b, e.offset + 28, 2);
  if (data > b.size() || b.size() - data < e.packed) return Bad("an entry is cut off");
  const std::string_view packed = b.substr(data, e.packed);
  FileBytes content{packed, bytes_.owner};
  if (e.method == 8) {
    TENON_ASSIGN_OR_RETURN(content, UnpackDeflate(packed, "entry", e.size));
  } else if (e.method != 0) {
    return absl::UnimplementedError(
        absl::StrCat("zip compression method ", e.method, " is not read"));
  }
  if (content.bytes.size() != e.size) return Bad("an entry does not have the size that it claims");
  if (Crc(content.bytes) != e.crc) return Bad("an entry's checksum does not match");
  return content;
}

absl::StatusOr<Tensor> NpzReader::Read(std::string_view key, DataType wanted) const {
  for (const Entry& e : entries_) {
    if (e.name != key) continue;
    const absl::StatusOr<FileBytes> file = Extract(e);
    absl::StatusOr<Tensor> tensor =
        file.ok() ? NpyFromBytes(file->bytes, wanted) : absl::StatusOr<Tensor>(file.status());
    if (tensor.ok()) return tensor;
    return WithPath(absl::StrCat(path_, "[", key, "]"), tensor.status());
  }
  return absl::NotFoundError(
      absl::StrCat("the archive has no array '", key, "'; it has: ", absl::StrJoin(Keys(), ", ")));
}

absl::StatusOr<std::string> NpzToBytes(const NamedArrays& arrays) {
  std::string out, directory;
  for (const auto& [key, tensor] : arrays) {
    TENON_ASSIGN_OR_RETURN(const std::string npy, NpyToBytes(tensor));
    const std::string name = absl::StrCat(key, ".npy");
    if (npy.size() >= 0xFFFFFFFF || out.size() >= 0xFFFFFFFF || name.size() > 0xFFFF) {
      return absl::UnimplementedError(
          absl::StrCat("array '", key, "' makes the archive larger than 4 GiB"));
    }
    std::string
        common;  // what both headers share: flags, stored, 1980-01-01, checksum, sizes, name length
    Store(0, 2, &common);
    Store(0, 2, &common);
    Store(0, 2, &common);
    Store(0x21, 2, &common);
    Store(Crc(npy), 4, &common);
    Store(npy.size(), 4, &common);
    Store(npy.size(), 4, &common);
    Store(name.size(), 2, &common);
    Store(0, 2, &common);
    Store(kCentralMagic, 4, &directory);
    Store(20, 2, &directory);
    Store(20, 2, &directory);
    directory.append(common);
    directory.append(10, '\0');  // comment, disk, attributes
    Store(out.size(), 4, &directory);
    directory.append(name);
    Store(kLocalMagic, 4, &out);
    Store(20, 2, &out);
    out.append(common).append(name).append(npy);
  }
  const size_t at = out.size();
  if (at >= 0xFFFFFFFF || arrays.size() >= 0xFFFF)
    return absl::UnimplementedError("archives above 4 GiB are not written");
  out.append(directory);
  Store(kEndMagic, 4, &out);
  Store(0, 4, &out);
  Store(arrays.size(), 2, &out);
  Store(arrays.size(), 2, &out);
  Store(directory.size(), 4, &out);
  Store(at, 4, &out);
  Store(0, 2, &out);
  return out;
}

absl::Status WriteNpz(const std::string& path, const NamedArrays& arrays) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, NpzToBytes(arrays));
  return WriteFile(path, bytes);
}

}  // namespace tenon
