// Zip archives of .npy files, read and written in memory by minizip.
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/base/file_writer.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/npy.h"

namespace tenon {
namespace {

// minizip finds no directory where nothing stands before it.
constexpr std::string_view kEmptyArchive("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
constexpr int kStored = 0;
// The most bytes that an archive without the zip64 extension can have.
constexpr uint64_t kMostBytes = 0xFFFFFFFF;
constexpr uLong kDate = 0x21 << 16;  // 1980-01-01, so that the same arrays are the same bytes

absl::Status BadArchive(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a readable .npz archive: ", what));
}

// A file in memory behind minizip's functions: an archive to read, or one that is being written.
struct MemoryFile {
  std::string_view archive = {};
  std::string written = {};
  size_t at = 0;
  bool too_short = false;  // more was asked for than there is

  uint64_t size() const { return archive.size() + written.size(); }  // one of the two is empty
  zlib_filefunc64_def functions();
};

uLong ReadFromZip(void*, void* stream, void* to, uLong size) {
  auto* const file = static_cast<MemoryFile*>(stream);
  const size_t n = std::min<size_t>(size, file->archive.size() - file->at);
  file->too_short = file->too_short || n < size;
  if (n > 0) std::memcpy(to, file->archive.data() + file->at, n);
  file->at += n;
  return n;
}

uLong Write(void*, void* stream, const void* from, uLong size) {
  auto* const file = static_cast<MemoryFile*>(stream);
  const size_t over = std::min<size_t>(size, file->written.size() - file->at);
  file->written.replace(file->at, over, static_cast<const char*>(from), size);
  file->at += size;
  return size;
}

long Seek(void*, void* stream, ZPOS64_T offset, int origin) {
  auto* const file = static_cast<MemoryFile*>(stream);
  uint64_t base = 0;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) base = file->at;
  if (origin == ZLIB_FILEFUNC_SEEK_END) base = file->size();
  if (offset > file->size() - base) return -1;
  file->at = base + offset;
  return 0;
}

zlib_filefunc64_def MemoryFile::functions() {
  return {.zopen64_file = [](void* file, const void*, int) { return file; },
          .zread_file = ReadFromZip,
          .zwrite_file = Write,
          .ztell64_file = [](void*, void* stream) -> ZPOS64_T {
            return static_cast<MemoryFile*>(stream)->at;
          },
          .zseek64_file = Seek,
          .zclose_file = [](void*, void*) { return 0; },
          .zerror_file = [](void*, void* stream) -> int {
            return static_cast<MemoryFile*>(stream)->too_short;
          },
          .opaque = this};
}

// The content of the open entry, which is not packed, where it lies: a copy of large arrays would
// take longer than all the rest.
absl::StatusOr<FileBytes> Look(unzFile zip, const unz_file_info64& info, const FileBytes& archive) {
  const uint64_t at = unzGetCurrentFileZStreamPos64(zip), size = info.uncompressed_size;
  if (info.compressed_size != size)
    return BadArchive("an entry does not have the size that it claims");
  if (at > archive.bytes.size() || archive.bytes.size() - at < size)
    return BadArchive("an entry is cut off");
  const std::string_view content = archive.bytes.substr(at, size);
  if (crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), size) != info.crc)
    return BadArchive("an entry's checksum does not match");
  return FileBytes{content, archive.owner};
}

// The content of the open entry, unpacked. What the directory says of its size is a limit, never a
// promise: memory grows with what comes out.
absl::StatusOr<FileBytes> Unpack(unzFile zip, uint64_t size) {
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t limit = std::min<uint64_t>(size, MachineMemoryBytes() / 2);
  std::string content;
  while (true) {
    const size_t at = content.size();
    // One byte more than the limit shows that the entry is too large.
    content.resize(at + std::min(kPiece, limit - at + 1));
    const int n = unzReadCurrentFile(zip, content.data() + at, content.size() - at);
    if (n < 0) return BadArchive("an entry is cut off or corrupt");
    content.resize(at + n);
    if (n == 0) break;
    if (content.size() > limit)
      return BadArchive("an entry is larger than the machine's memory allows");
  }
  if (content.size() != size) return BadArchive("an entry does not have the size that it claims");
  // minizip compares the checksum of a read entry when the entry is closed.
  if (unzCloseCurrentFile(zip) != UNZ_OK) return BadArchive("an entry's checksum does not match");
  return BytesOf(std::move(content));
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
  if (bytes_.bytes == kEmptyArchive) return absl::OkStatus();
  MemoryFile file{.archive = bytes_.bytes};
  zlib_filefunc64_def functions = file.functions();
  unzFile zip = unzOpen2_64(nullptr, &functions);
  if (zip == nullptr) return BadArchive("it has no directory");
  const absl::Cleanup close = [zip] { unzClose(zip); };
  std::string name(size_t{1} << 16, '\0');  // longer than any can be
  int result = unzGoToFirstFile(zip);
  for (; result == UNZ_OK; result = unzGoToNextFile(zip)) {
    unz_file_info64 info;
    unz64_file_pos place;
    if (unzGetFilePos64(zip, &place) != UNZ_OK ||
        unzGetCurrentFileInfo64(zip, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) !=
            UNZ_OK)
      return BadArchive("its directory is damaged");
    if ((info.flag & 1) != 0) return absl::UnimplementedError("encrypted archives are not read");
    const std::string_view file_name(name.data(), info.size_filename);
    entries_.push_back({.name = std::string(absl::StripSuffix(file_name, ".npy")),
                        .place = place.pos_in_zip_directory,
                        .number = place.num_of_file});
  }
  return result == UNZ_END_OF_LIST_OF_FILE ? absl::OkStatus()
                                           : BadArchive("its directory is damaged");
}

std::vector<std::string> NpzReader::Keys() const {
  std::vector<std::string> keys;
  for (const Entry& e : entries_) keys.push_back(e.name);
  return keys;
}

absl::StatusOr<FileBytes> NpzReader::Extract(const Entry& e) const {
  MemoryFile file{.archive = bytes_.bytes};
  zlib_filefunc64_def functions = file.functions();
  unzFile zip = unzOpen2_64(nullptr, &functions);
  if (zip == nullptr) return BadArchive("it has no directory");
  const absl::Cleanup close = [zip] { unzClose(zip); };
  const unz64_file_pos place{e.place, e.number};
  unz_file_info64 info;
  if (unzGoToFilePos64(zip, &place) != UNZ_OK ||
      unzGetCurrentFileInfo64(zip, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return BadArchive("its directory is damaged");
  if (info.compression_method != kStored && info.compression_method != Z_DEFLATED) {
    return absl::UnimplementedError(
        absl::StrCat("zip compression method ", info.compression_method, " is not read"));
  }
  if (unzOpenCurrentFile(zip) != UNZ_OK) return BadArchive("an entry is damaged");
  return info.compression_method == kStored ? Look(zip, info, bytes_)
                                            : Unpack(zip, info.uncompressed_size);
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
  return WithPath(path_,
                  absl::NotFoundError(absl::StrCat("the archive has no array '", key,
                                                   "'; it has: ", absl::StrJoin(Keys(), ", "))));
}

absl::StatusOr<std::string> NpzToBytes(const NamedArrays& arrays) {
  MemoryFile file;
  size_t size = 0;  // about
  for (const auto& [key, tensor] : arrays) size += tensor.bytes() + 256 + 4 * key.size();
  file.written.reserve(size);
  zlib_filefunc64_def functions = file.functions();
  zipFile zip = zipOpen2_64(nullptr, APPEND_STATUS_CREATE, nullptr, &functions);
  if (zip == nullptr) return absl::ResourceExhaustedError("no memory to write an archive");
  absl::Cleanup close = [zip] { zipClose(zip, nullptr); };
  zip_fileinfo info = {};
  info.dosDate = kDate;
  for (const auto& [key, tensor] : arrays) {
    TENON_ASSIGN_OR_RETURN(const std::string npy, NpyToBytes(tensor));
    if (npy.size() >= kMostBytes || file.written.size() >= kMostBytes - npy.size()) {
      return absl::UnimplementedError(
          absl::StrCat("array '", key, "' makes the archive larger than 4 GiB"));
    }
    if (zipOpenNewFileInZip64(zip, absl::StrCat(key, ".npy").c_str(), &info, nullptr, 0, nullptr, 0,
                              nullptr, kStored, 0, 0) != ZIP_OK ||
        zipWriteInFileInZip(zip, npy.data(), static_cast<unsigned>(npy.size())) != ZIP_OK ||
        zipCloseFileInZip(zip) != ZIP_OK)
      return absl::InternalError(absl::StrCat("array '", key, "' cannot be put into an archive"));
  }
  std::move(close).Cancel();
  if (zipClose(zip, nullptr) != ZIP_OK)
    return absl::InternalError("the directory of an archive cannot be written");
  return std::move(file.written);
}

absl::Status WriteNpz(const std::string& path, const NamedArrays& arrays) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, NpzToBytes(arrays));
  return WriteFile(path, bytes);
}

}  // namespace tenon
