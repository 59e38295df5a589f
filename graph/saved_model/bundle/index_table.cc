// The index is a LevelDB table. LevelDB believes the sizes in a file, so the file is held in memory
// and every read is checked against its end before LevelDB sees the bytes.

#include "graph/saved_model/bundle/index_table.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// LevelDB adds the 5 bytes of a trailer to the size of a block that it found in the file, without a
// look at the sum. No block is smaller than a number and its trailer.
constexpr uint64_t kTrailer = 5, kLeastBlock = 4 + kTrailer;

// The footer: offsets and sizes of two blocks, padded, and a magic number. The second block, the
// index, leads to all others.
constexpr size_t kFooter = 48;

class BytesFile : public leveldb::RandomAccessFile {
 public:
  explicit BytesFile(std::string_view bytes) : bytes_(bytes) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    if (n < kLeastBlock || offset > bytes_.size() || n > bytes_.size() - offset)
      return leveldb::Status::Corruption("a block lies beyond the end of the file");
    std::copy_n(bytes_.data() + offset, n, scratch);
    *result = leveldb::Slice(scratch, n);
    return leveldb::Status::OK();
  }

 private:
  std::string_view bytes_;
};

class StringFile : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

  std::string bytes;
};

std::string_view View(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

// Checks the places that the footer names. LevelDB allocates blocks of these sizes before it reads,
// and the footer has no checksum.
bool HasGoodFooter(std::string_view file) {
  if (file.size() < kFooter) return false;
  const char *at = file.data() + file.size() - kFooter, *const end = file.data() + file.size();
  uint64_t filter_offset, filter_size, offset, size;
  for (uint64_t* const number : {&filter_offset, &filter_size, &offset, &size})
    if (!WireReader::ReadVarint(&at, end, number)) return false;
  const uint64_t blocks = file.size() - kFooter;
  return offset <= blocks && size <= blocks - offset && kTrailer <= blocks - offset - size;
}

absl::Status Damaged(const std::string& path, const leveldb::Status& status) {
  return absl::DataLossError(
      absl::StrCat(path, ": is no good index of a checkpoint: ", status.ToString()));
}

}  // namespace

struct IndexTable::Impl {
  explicit Impl(std::string p, FileBytes b)
      : path(std::move(p)), bytes(std::move(b)), file(bytes.bytes) {}

  std::unique_ptr<leveldb::Iterator> Iterate() const {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    return std::unique_ptr<leveldb::Iterator>(table->NewIterator(options));
  }

  std::string path;
  FileBytes bytes;
  BytesFile file;
  std::unique_ptr<leveldb::Table> table;
};

IndexTable::IndexTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IndexTable::IndexTable(IndexTable&&) noexcept = default;
IndexTable& IndexTable::operator=(IndexTable&&) noexcept = default;
IndexTable::~IndexTable() = default;

const std::string& IndexTable::path() const { return impl_->path; }

absl::StatusOr<IndexTable> IndexTable::Open(const std::string& path) {
  return WithinMemory([&]() -> absl::StatusOr<IndexTable> {
    TENON_ASSIGN_OR_RETURN(FileBytes bytes, ReadRegularFile(path, SIZE_MAX));
    if (!HasGoodFooter(bytes.bytes)) {
      return Damaged(path, leveldb::Status::Corruption("its end is none of a table"));
    }
    auto impl = std::make_unique<Impl>(path, std::move(bytes));
    leveldb::Options options;
    options.paranoid_checks = true;
    leveldb::Table* table = nullptr;
    const leveldb::Status opened =
        leveldb::Table::Open(options, &impl->file, impl->bytes.bytes.size(), &table);
    if (!opened.ok()) return Damaged(path, opened);
    impl->table.reset(table);
    return IndexTable(std::move(impl));
  });
}

absl::StatusOr<std::optional<std::string>> IndexTable::Find(std::string_view key) const {
  return WithinMemory([&]() -> absl::StatusOr<std::optional<std::string>> {
    const std::unique_ptr<leveldb::Iterator> it = impl_->Iterate();
    it->Seek(leveldb::Slice(key.data(), key.size()));
    if (!it->status().ok()) return Damaged(impl_->path, it->status());
    if (!it->Valid() || View(it->key()) != key) return std::nullopt;
    return std::string(View(it->value()));
  });
}

absl::Status IndexTable::ForEach(
    absl::FunctionRef<absl::Status(std::string_view, std::string_view)> visit) const {
  return WithinMemory([&]() -> absl::Status {
    const std::unique_ptr<leveldb::Iterator> it = impl_->Iterate();
    for (it->SeekToFirst(); it->Valid(); it->Next())
      TENON_RETURN_IF_ERROR(visit(View(it->key()), View(it->value())));
    return it->status().ok() ? absl::OkStatus() : Damaged(impl_->path, it->status());
  });
}

absl::StatusOr<std::string> IndexTableBytes(const std::map<std::string, std::string>& entries) {
  leveldb::Options options;
  options.compression = leveldb::kNoCompression;  // TensorFlow may come without Snappy
  StringFile file;
  leveldb::TableBuilder builder(options, &file);
  // A table wants its keys in order, as the map has them.
  for (const auto& [key, value] : entries) builder.Add(key, value);
  const leveldb::Status written = builder.Finish();
  if (written.ok()) return std::move(file.bytes);
  return absl::InternalError(absl::StrCat("LevelDB: ", written.ToString()));
}

}  // namespace tenon
