// Hash tables from keys to tensors of one shape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon::cpu {

// Thread-safe: each call is atomic.
class Table : public Resource {
 public:
  static constexpr std::string_view kKind = "table";
  std::string_view kind() const override { return kKind; }

  struct Options {
    DataType key_type = DataType::kInvalid, value_type = DataType::kInvalid;
    Shape key_shape, value_shape;
    bool is_mutable = false;           // else it is filled once
    std::vector<std::string> no_keys;  // that a dense table keeps for itself
  };
  Table(std::string_view name, Options options) : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // Values by key, in a tensor of the keys' shape and behind it the value shape. `missing` is one
  // value, or one for each key. FAILED_PRECONDITION while the table waits to be filled.
  absl::StatusOr<Tensor> Find(const Tensor& keys, const Tensor& missing);
  // Fills a table that is filled once. FAILED_PRECONDITION unless a second time brings as many
  // entries, and a key that comes twice the same value.
  absl::Status Initialize(const Tensor& keys, const Tensor& values);
  // UNIMPLEMENTED for a table that is filled once.
  absl::Status Insert(const Tensor& keys, const Tensor& values);
  // The same, in place of what the table had. A dense table takes matrices, and skips its empty and
  // deleted keys, which are among what TensorFlow exports.
  absl::Status Import(const Tensor& keys, const Tensor& values);
  absl::Status Remove(const Tensor& keys);
  bool filled();  // as a table that is filled once
  absl::StatusOr<int64_t> Size();
  struct Entries {
    Tensor keys, values;
  };
  absl::StatusOr<Entries> Export();  // of a dense table as matrices
  // A table of the same name that holds the same entries.
  absl::StatusOr<ObjectRef<Table>> Copy();

  // The bytes that tell keys of `size` elements apart.
  static std::string KeyOf(const Tensor& keys, int64_t i, int64_t size);

 private:
  std::string KeyOf(const Tensor& keys, int64_t i) const {
    return KeyOf(keys, i, options_.key_shape.num_elements());
  }
  void SetKey(const Tensor& keys, int64_t i, std::string_view key) const;
  bool IsNoKey(const std::string& key) const;
  // The shape of the values of these keys.
  absl::StatusOr<Shape> ValuesOf(const Tensor& keys) const;
  absl::Status CheckEntries(const Tensor& keys, const Tensor& values) const;
  absl::Status CheckMutable() const;
  absl::StatusOr<Entries> FromMatrices(const Tensor& keys, const Tensor& values) const;
  // How many keys there are, none of which is one that a dense table keeps for itself.
  absl::StatusOr<int64_t> CountKeys(const Tensor& keys) const;
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckFilled() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Put(std::string key, const Tensor& values, int64_t i)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SameValue(int64_t place, const Tensor& values, int64_t i) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  absl::Mutex mutex_;
  bool filled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<std::string, int64_t> places_ ABSL_GUARDED_BY(mutex_);
  Tensor values_ ABSL_GUARDED_BY(mutex_);  // one row a place
  std::vector<int64_t> free_ ABSL_GUARDED_BY(mutex_);
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon::cpu
