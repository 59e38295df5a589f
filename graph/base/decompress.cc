// xz and gzip, both ways; see file_bytes.h.
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/at_byte.h"
#include "graph/base/file_bytes.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
// zlib takes the logarithm of the window's size (15 at most); 16 more ask for the gzip format.
constexpr int kGzip = MAX_WBITS + 16;
// A bound on the memory of the decoder itself, not on its output. The largest preset needs 65 MiB.
constexpr uint64_t kXzDecoderMemory = uint64_t{512} << 20;

// A growing malloc'ed buffer: realloc moves large ones by remapping, without a copy.
class GrowingBuffer {
 public:
  explicit GrowingBuffer(size_t max_bytes) : max_bytes_(max_bytes) {}
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;
  ~GrowingBuffer() { std::free(data_); }

  // Room for more bytes; false when memory ends. Not to be asked of one that is full().
  bool Grow() {
    // One byte beyond the limit: output that needs this byte is too large, and output of exactly
    // the limit passes.
    const size_t capacity =
        std::min(std::max<size_t>(size_t{1} << 16, capacity_ * 2), max_bytes_ + 1);
    void* grown = std::realloc(data_, capacity);
    if (grown == nullptr) return false;
    data_ = static_cast<char*>(grown);
    capacity_ = capacity;
    return true;
  }
  uint8_t* next() { return reinterpret_cast<uint8_t*>(data_ + size_); }
  size_t room() const { return capacity_ - size_; }
  void Advance(size_t n) { size_ += n; }
  bool over_limit() const { return size_ > max_bytes_; }
  bool full() const { return room() == 0 && capacity_ > max_bytes_; }

  FileBytes Finish() && {
    if (void* fitted = std::realloc(data_, std::max<size_t>(size_, 1)))
      data_ = static_cast<char*>(fitted);
    std::shared_ptr<const void> owner(data_,
                                      [](const void* p) { std::free(const_cast<void*>(p)); });
    return {{std::exchange(data_, nullptr), size_}, std::move(owner)};
  }

 private:
  size_t max_bytes_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

absl::Status Corrupt(const std::string& name, std::string_view format, size_t offset,
                     std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(AtByte(name, offset), ": the ", format, " data is ", what));
}

absl::Status Beyond(const std::string& name, std::string_view format, size_t offset,
                    size_t max_bytes) {
  return absl::InvalidArgumentError(absl::StrCat(AtByte(name, offset), ": the ", format,
                                                 " data unpacks to more than ", max_bytes,
                                                 " bytes, the limit"));
}

absl::Status NoMemory(const std::string& name, std::string_view format) {
  return absl::ResourceExhaustedError(
      absl::StrCat(name, ": there is no memory to unpack ", format, " data"));
}

absl::Status MakeRoom(GrowingBuffer& out, const std::string& name, std::string_view format,
                      size_t offset, size_t max_bytes) {
  if (out.full()) return Beyond(name, format, offset, max_bytes);
  return out.room() > 0 || out.Grow() ? absl::OkStatus() : NoMemory(name, format);
}

// An error of lzma_code.
absl::Status XzError(lzma_stream& stream, lzma_ret error, const std::string& name) {
  if (error == LZMA_MEM_ERROR) return NoMemory(name, "xz");
  if (error != LZMA_MEMLIMIT_ERROR) return Corrupt(name, "xz", stream.total_in, "corrupt");
  return absl::ResourceExhaustedError(
      absl::StrCat(AtByte(name, stream.total_in), ": to unpack the xz data takes a decoder of ",
                   lzma_memusage(&stream), " bytes, the limit is ", kXzDecoderMemory));
}

absl::StatusOr<FileBytes> UnpackXz(std::string_view packed, const std::string& name,
                                   size_t max_bytes) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kXzDecoderMemory, LZMA_CONCATENATED) != LZMA_OK)
    return NoMemory(name, "xz");
  struct End {
    lzma_stream* stream;
    ~End() { lzma_end(stream); }
  } end{&stream};
  GrowingBuffer out(max_bytes);
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  while (true) {
    TENON_RETURN_IF_ERROR(MakeRoom(out, name, "xz", stream.total_in, max_bytes));
    const size_t room = out.room();
    stream.next_out = out.next();
    stream.avail_out = room;
    const lzma_ret result = lzma_code(&stream, LZMA_FINISH);
    out.Advance(room - stream.avail_out);
    if (out.over_limit()) return Beyond(name, "xz", stream.total_in, max_bytes);
    if (result == LZMA_STREAM_END) return std::move(out).Finish();
    // LZMA_BUF_ERROR means no progress. With room left and no input left, the stream has no end.
    if (result == LZMA_BUF_ERROR && stream.avail_in == 0 && stream.avail_out != 0) {
      return Corrupt(name, "xz", stream.total_in, "truncated");
    }
    if (result != LZMA_OK && result != LZMA_BUF_ERROR) return XzError(stream, result, name);
  }
}

absl::StatusOr<FileBytes> UnpackGzip(std::string_view packed, const std::string& name,
                                     size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) return NoMemory(name, "gzip");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } end{&stream};
  GrowingBuffer out(max_bytes);
  size_t consumed = 0;
  while (true) {
    TENON_RETURN_IF_ERROR(MakeRoom(out, name, "gzip", consumed, max_bytes));
    const auto in = static_cast<uInt>(std::min<size_t>(packed.size() - consumed, size_t{1} << 30));
    const auto room = static_cast<uInt>(std::min<size_t>(out.room(), size_t{1} << 30));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + consumed));
    stream.avail_in = in;
    stream.next_out = out.next();
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    out.Advance(room - stream.avail_out);
    if (out.over_limit()) return Beyond(name, "gzip", consumed, max_bytes);
    if (result == Z_STREAM_END) {
      if (consumed == packed.size()) return std::move(out).Finish();
      // Files of several members are one file; what follows must be another member.
      if (inflateReset(&stream) != Z_OK) return Corrupt(name, "gzip", consumed, "corrupt");
      continue;
    }
    if (result == Z_MEM_ERROR) return NoMemory(name, "gzip");
    if (result != Z_OK && result != Z_BUF_ERROR) return Corrupt(name, "gzip", consumed, "corrupt");
    if (consumed == packed.size() && stream.avail_out != 0)
      return Corrupt(name, "gzip", consumed, "truncated");
  }
}

// A small file that unpacks to all memory must fail as a limit does, not as a process killed.
size_t LimitFor(size_t max_bytes) { return std::min(max_bytes, MachineMemoryBytes() / 2); }

}  // namespace

absl::StatusOr<FileBytes> Unpack(FileBytes packed, const std::string& name, size_t max_bytes) {
  if (packed.bytes.starts_with(kXzMagic)) return UnpackXz(packed.bytes, name, LimitFor(max_bytes));
  if (packed.bytes.starts_with(kGzipMagic))
    return UnpackGzip(packed.bytes, name, LimitFor(max_bytes));
  return packed;
}

absl::StatusOr<std::string> PackXz(std::string_view bytes) {
  // The bound is 0 for sizes that liblzma cannot encode; `packed` is then empty, which is checked
  // below.
  std::string packed(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  const lzma_ret result =
      lzma_easy_buffer_encode(LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64, nullptr,
                              reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                              reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  if (packed.empty() || result != LZMA_OK)
    return absl::ResourceExhaustedError("packing with xz failed");
  packed.resize(size);
  return packed;
}

absl::StatusOr<std::string> PackGzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return absl::ResourceExhaustedError("packing with gzip failed");
  }
  std::string packed;
  std::string block(size_t{1} << 16, '\0');
  size_t consumed = 0;
  int result = Z_OK;
  while (result == Z_OK || result == Z_BUF_ERROR) {
    const auto in = static_cast<uInt>(std::min<size_t>(bytes.size() - consumed, size_t{1} << 30));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    result = deflate(&stream, consumed + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    packed.append(block, 0, block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("packing with gzip failed");
  return packed;
}

}  // namespace tenon
