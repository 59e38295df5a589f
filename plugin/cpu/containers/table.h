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

// Thread-safe: each call is atomic. Keys are compared by their bytes: 0.0 and -0.0 are different
// keys. There are three kinds of tables:
//   filled once  Initialize fills the table; Insert, Import and Remove are UNIMPLEMENTED
//   mutable      empty from the start; Insert, Import and Remove change the table
//   dense        mutable, with an empty and a deleted key that no entry may have (`no_keys`)
class Table : public Resource {
 public:
  static constexpr std::string_view kKind = "table";
  std::string_view kind() const override { return kKind; }

  struct Options {
    DataType key_type = DataType::kInvalid, value_type = DataType::kInvalid;
    Shape key_shape, value_shape;      // a key has elements; a value may have none
    bool is_mutable = false;           // false: filled once
    bool anonymous = false;            // no session keeps the table
    std::vector<std::string> no_keys;  // KeyOf of the empty and the deleted key of a dense table
  };
  Table(std::string_view name, Options options) : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }
  bool anonymous() const override { return options_.anonymous; }

  // Returns the values of `keys`. The keys' shape is [batch..., key_shape...], the result's shape
  // is [batch..., value_shape...]. A key without an entry gets its value from `missing`, which has
  // value_shape (one value for all keys) or the result's shape (one for each key). INVALID_ARGUMENT
  // for a wrong type or shape, or for a key in `no_keys`. FAILED_PRECONDITION while a table that is
  // filled once is not filled. RESOURCE_EXHAUSTED if memory is short.
  absl::StatusOr<Tensor> Find(const Tensor& keys, const Tensor& missing);
  // Fills a table that is filled once. `keys` and `values` have the shapes of the keys and the
  // result of Find.
  //   INVALID_ARGUMENT: a mutable table, or a wrong type or shape.
  //   FAILED_PRECONDITION: a key comes twice with different values.
  //   RESOURCE_EXHAUSTED: memory is short.
  // After an error the table is as before: a table that is not filled stays empty. A call for a
  // filled table changes nothing. With right types and shapes, that call returns OK if there are as
  // many keys as the table has entries, whatever the keys are, and FAILED_PRECONDITION otherwise.
  absl::Status Initialize(const Tensor& keys, const Tensor& values);
  // Adds entries, or replaces the values of known keys. Of a key that comes twice, the last value
  // stays. Shapes as in Initialize. UNIMPLEMENTED for a table that is filled once. INVALID_ARGUMENT
  // for a wrong type or shape, or for a key in `no_keys`; the table stays as it is.
  // RESOURCE_EXHAUSTED if memory is short; some entries may be added.
  absl::Status Insert(const Tensor& keys, const Tensor& values);
  // Replaces all entries. Errors as of Insert, but keys in `no_keys` are skipped, since TensorFlow
  // exports them. After RESOURCE_EXHAUSTED the table has some of the new entries only. A dense
  // table also takes keys and values as matrices, one row per entry.
  absl::Status Import(const Tensor& keys, const Tensor& values);
  // Removes the entries of these keys. Ignores keys without an entry. UNIMPLEMENTED and
  // INVALID_ARGUMENT as of Insert.
  absl::Status Remove(const Tensor& keys);
  // Returns whether Initialize has filled the table. False for mutable tables.
  bool filled();
  // Returns the number of entries. Never fails.
  absl::StatusOr<int64_t> Size();
  struct Entries {
    Tensor keys, values;
  };
  // Returns copies of all entries, in the order of their insertion; an entry that was added after a
  // Remove takes the place of a removed entry. The shapes are [count, key_shape...] and [count,
  // value_shape...]; of a dense table, both are matrices of `count` rows, without the keys in
  // `no_keys`. FAILED_PRECONDITION while a table that is filled once is not filled.
  // RESOURCE_EXHAUSTED if memory is short.
  absl::StatusOr<Entries> Export();
  // Returns a table of the same name and options that holds copies of the entries. The copy is no
  // resource of the session. RESOURCE_EXHAUSTED if memory is short.
  absl::StatusOr<ObjectRef<Table>> Copy();

  // Returns a text that tells key i from other keys of the same type and size, where a key has
  // `size` elements: the elements' bytes. Strings carry their lengths if a key has several.
  static std::string KeyOf(const Tensor& keys, int64_t i, int64_t size);

 private:
  std::string KeyOf(const Tensor& keys, int64_t i) const {
    return KeyOf(keys, i, options_.key_shape.num_elements());
  }
  void SetKey(const Tensor& keys, int64_t i, std::string_view key) const;
  bool IsNoKey(const std::string& key) const;
  // Returns the shape of the values of these keys. INVALID_ARGUMENT if the keys do not fit the
  // table.
  absl::StatusOr<Shape> ValuesOf(const Tensor& keys) const;
  absl::Status CheckEntries(const Tensor& keys, const Tensor& values) const;
  absl::Status CheckMutable() const;
  absl::Status CheckFilledOnce() const;
  absl::StatusOr<Entries> FromMatrices(const Tensor& keys, const Tensor& values) const;
  // Returns the number of keys. INVALID_ARGUMENT if one is in `no_keys`.
  absl::StatusOr<int64_t> CountKeys(const Tensor& keys) const;
  // Adds `count` entries. After an error the table has some of them.
  absl::Status Fill(const Tensor& keys, const Tensor& values, int64_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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
  Tensor values_ ABSL_GUARDED_BY(mutex_);  // [places, value_shape...]; grows by doubling
  std::vector<int64_t> free_ ABSL_GUARDED_BY(mutex_);  // places of removed entries, below used_
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon::cpu
