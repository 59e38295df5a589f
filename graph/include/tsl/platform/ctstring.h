// Layout of the elements of TF_STRING tensors, and inline functions on it.
//
// A TF_TString is 24 bytes; the low two bits of its first byte say which of four forms it has:
//
//   SMALL   byte 0 = size << 2, then up to 22 bytes and a NUL. All zero bytes: the empty string.
//   LARGE   size << 2 | 1, capacity, pointer. The block comes from malloc and is NUL-terminated.
//   OFFSET  32-bit size << 2 | 2, 32-bit offset of the bytes from the string's own address, a count
//           that is not read.
//   VIEW    size << 2 | 3, pointer to bytes that the string does not own, their owner or NULL.
//
// Sizes are in bytes. SMALL and LARGE strings own their bytes, which a NUL follows; the bytes may
// hold NULs too. The bytes of OFFSET and VIEW strings need not end in a NUL.
//
// Heap blocks cross between host and plug-in: both must use the C library's malloc and free. Since
// the functions are compiled into both sides, the layout is part of the binary interface.
// Little-endian hosts only. One thread at a time may change a string.
//
// Every function but TF_TString_Init wants initialised strings. A function that cannot get memory
// leaves the string as it was; those that return a pointer then return NULL, the others report
// nothing.
#ifndef TENSORFLOW_TSL_PLATFORM_CTSTRING_H_
#define TENSORFLOW_TSL_PLATFORM_CTSTRING_H_

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "TF_TString is laid out for little-endian machines only"
#endif

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,
  TF_TSTR_LARGE = 0x01,
  TF_TSTR_OFFSET = 0x02,
  TF_TSTR_VIEW = 0x03,
  TF_TSTR_TYPE_MASK = 0x03,
} TF_TString_Type;

// Keeps the bytes of a view alive. `ref` takes a reference, `unref` gives one back. The last
// `unref` frees the bytes and the owner, and returns true. `obj` is for the use of these two
// functions.
struct TStringOwnerCApi;
typedef void (*tstring_owner_ref_t)(struct TStringOwnerCApi* self);
typedef bool (*tstring_owner_unref_t)(struct TStringOwnerCApi* self);
typedef struct TStringOwnerCApi {
  tstring_owner_ref_t ref;
  tstring_owner_unref_t unref;
  void* obj;
} TStringOwnerCApi;

typedef struct TF_TString_Large {
  size_t size;  // in this and the next two structs: size in bytes << 2 | form
  size_t cap;   // bytes, the terminating NUL not counted
  char* ptr;
} TF_TString_Large;

typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset;
  uint32_t count;
} TF_TString_Offset;

typedef struct TF_TString_View {
  size_t size;
  const char* ptr;
  TStringOwnerCApi* owner_ref;
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef union TF_TString_Union {
  TF_TString_Large large;
  TF_TString_Offset offset;
  TF_TString_View view;
  TF_TString_Raw raw;
} TF_TString_Union;

enum {
  // Longest SMALL string: one byte goes to the size, one to the NUL.
  TF_TString_SmallCapacity = sizeof(TF_TString_Union) - sizeof(uint8_t) - sizeof(char),
};

typedef struct TF_TString_Small {
  uint8_t size;
  char str[TF_TString_SmallCapacity + sizeof(char)];
} TF_TString_Small;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

static inline TF_TString_Type TF_TString_GetType(const TF_TString* str) {
  return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

// From the size word of a LARGE or VIEW string to bytes, and back.
static inline size_t TF_TString_ToActualSizeT(size_t size) { return size >> 2; }
static inline size_t TF_TString_ToInternalSizeT(size_t size, TF_TString_Type type) {
  return size << 2 | (size_t)type;
}

// Makes `str` the empty string. Its former bytes are neither read nor freed.
static inline void TF_TString_Init(TF_TString* str) { memset(str, 0, sizeof(*str)); }

// Frees the bytes of a LARGE string, or gives back the reference of a VIEW to its owner, and makes
// `str` the empty string. SMALL strings, OFFSET strings and VIEWs without an owner stay as they
// are.
static inline void TF_TString_Dealloc(TF_TString* str) {
  const TF_TString_Type type = TF_TString_GetType(str);
  if (type == TF_TSTR_LARGE && str->u.large.ptr != NULL) {
    free(str->u.large.ptr);
    TF_TString_Init(str);
  } else if (type == TF_TSTR_VIEW && str->u.view.owner_ref != NULL) {
    TStringOwnerCApi* owner = str->u.view.owner_ref;
    TF_TString_Init(str);
    (void)owner->unref(owner);
  }
}

static inline size_t TF_TString_GetSize(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.size >> 2;
    case TF_TSTR_OFFSET:
      return str->u.offset.size >> 2;
    default:  // LARGE and VIEW keep the size in the same place
      return TF_TString_ToActualSizeT(str->u.large.size);
  }
}

// Bytes that fit without a new allocation; 0 for strings that do not own their bytes.
static inline size_t TF_TString_GetCapacity(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE:
      return str->u.large.cap;
    default:
      return 0;
  }
}

static inline const char* TF_TString_GetDataPointer(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.str;
    case TF_TSTR_LARGE:
      return str->u.large.ptr;
    case TF_TSTR_OFFSET:
      return (const char*)str + str->u.offset.offset;
    default:
      return str->u.view.ptr;
  }
}

// The smallest capacity from `size` on for which capacity + 1, for the NUL, is a multiple of 16.
static inline size_t TF_TString_RoundedCapacity(size_t size) { return (size | (size_t)15); }

// Moves the first `keep` bytes into a heap block of capacity `new_cap` and makes `str` LARGE with
// `keep` bytes. `keep` must be at most the size of `str` and at most `new_cap`. Returns the block.
// A capacity that the size word cannot hold counts as memory that is short.
static inline char* TF_TString_MoveToHeap(TF_TString* str, size_t keep, size_t new_cap) {
  char* block;
  if (new_cap > SIZE_MAX >> 2) return NULL;
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) {
    block = (char*)realloc(str->u.large.ptr, new_cap + 1);
    if (block == NULL) return NULL;
  } else {
    block = (char*)malloc(new_cap + 1);
    if (block == NULL) return NULL;
    if (keep != 0) memcpy(block, TF_TString_GetDataPointer(str), keep);
    TF_TString_Dealloc(str);
  }
  block[keep] = '\0';
  str->u.large.size = TF_TString_ToInternalSizeT(keep, TF_TSTR_LARGE);
  str->u.large.cap = new_cap;
  str->u.large.ptr = block;
  return block;
}

// Makes `str` a SMALL or LARGE string of `new_size` bytes. As many of its former bytes as fit stay
// at the front; further bytes are undefined. Returns the bytes, which a NUL follows. A LARGE string
// that shrinks below half of its capacity gives memory back.
static inline char* TF_TString_ResizeUninitialized(TF_TString* str, size_t new_size) {
  const size_t old_size = TF_TString_GetSize(str);
  const size_t keep = new_size < old_size ? new_size : old_size;
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_size <= TF_TString_SmallCapacity) {
    if (TF_TString_GetType(str) != TF_TSTR_SMALL) {
      TF_TString_Small small;
      memset(&small, 0, sizeof(small));
      if (keep != 0) memcpy(small.str, TF_TString_GetDataPointer(str), keep);
      TF_TString_Dealloc(str);
      str->u.smll = small;
    }
    str->u.smll.size = (uint8_t)(new_size << 2);
    str->u.smll.str[new_size] = '\0';
    return str->u.smll.str;
  }
  if (new_size > cap || TF_TString_GetType(str) != TF_TSTR_LARGE) {
    if (TF_TString_MoveToHeap(str, keep, TF_TString_RoundedCapacity(new_size)) == NULL) return NULL;
  } else if (new_size < old_size && new_size < cap / 2) {  // give memory back
    if (TF_TString_MoveToHeap(str, keep, TF_TString_RoundedCapacity(cap / 2)) == NULL) return NULL;
  }
  str->u.large.size = TF_TString_ToInternalSizeT(new_size, TF_TSTR_LARGE);
  str->u.large.ptr[new_size] = '\0';
  return str->u.large.ptr;
}

// Does what TF_TString_ResizeUninitialized does, and sets the further bytes to `c`.
static inline char* TF_TString_Resize(TF_TString* str, size_t new_size, char c) {
  const size_t old_size = TF_TString_GetSize(str);
  char* bytes = TF_TString_ResizeUninitialized(str, new_size);
  if (bytes != NULL && new_size > old_size) memset(bytes + old_size, c, new_size - old_size);
  return bytes;
}

// The bytes for writing. An OFFSET or VIEW string becomes an owned copy first.
static inline char* TF_TString_GetMutableDataPointer(TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.str;
    case TF_TSTR_LARGE:
      return str->u.large.ptr;
    default:
      return TF_TString_ResizeUninitialized(str, TF_TString_GetSize(str));
  }
}

// Makes `str` a LARGE string with room for `new_cap` bytes, or for its size if that is more; the
// contents stay. Does nothing if `new_cap` is at most 22, whatever the form, or if a LARGE string
// has the room already.
static inline void TF_TString_Reserve(TF_TString* str, size_t new_cap) {
  const size_t size = TF_TString_GetSize(str);
  if (new_cap <= TF_TString_SmallCapacity) return;
  if (TF_TString_GetType(str) == TF_TSTR_LARGE && new_cap <= str->u.large.cap) return;
  (void)TF_TString_MoveToHeap(str, size,
                              TF_TString_RoundedCapacity(new_cap > size ? new_cap : size));
}

// Does nothing if the capacity is `new_cap` or more. Else does what TF_TString_Reserve does, with
// twice the capacity if that is more than `new_cap`: for strings that grow in small steps.
static inline void TF_TString_ReserveAmortized(TF_TString* str, size_t new_cap) {
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_cap > cap) TF_TString_Reserve(str, new_cap > 2 * cap ? new_cap : 2 * cap);
}

// `dst` becomes a view of the `size` bytes at `src`. With an owner the view takes one reference to
// it; with NULL the bytes must live until `dst` is assigned anew or emptied. What `dst` owned is
// freed.
static inline void TF_TString_AssignViewWithOwner(TF_TString* dst, const char* src, size_t size,
                                                  TStringOwnerCApi* owner_ref) {
  if (owner_ref != NULL) owner_ref->ref(owner_ref);
  TF_TString_Dealloc(dst);
  dst->u.view.size = TF_TString_ToInternalSizeT(size, TF_TSTR_VIEW);
  dst->u.view.ptr = src;
  dst->u.view.owner_ref = owner_ref;
}

// The same without an owner.
static inline void TF_TString_AssignView(TF_TString* dst, const char* src, size_t size) {
  TF_TString_AssignViewWithOwner(dst, src, size, NULL);
}

// Appends `size` bytes to `dst`, which becomes an owned string; does nothing if `size` is 0. `src`
// must not point into `dst`.
static inline void TF_TString_AppendN(TF_TString* dst, const char* src, size_t size) {
  const size_t old_size = TF_TString_GetSize(dst);
  if (size == 0 || size > SIZE_MAX - old_size) return;
  TF_TString_ReserveAmortized(dst, old_size + size);
  char* bytes = TF_TString_ResizeUninitialized(dst, old_size + size);
  if (bytes != NULL) memcpy(bytes + old_size, src, size);
}

// Appends the bytes of `src`, which must not be `dst` or a view of the bytes of `dst`.
static inline void TF_TString_Append(TF_TString* dst, const TF_TString* src) {
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
}

// `dst` becomes an owned copy of `size` bytes. `src` must not point into `dst`.
static inline void TF_TString_Copy(TF_TString* dst, const char* src, size_t size) {
  char* bytes = TF_TString_ResizeUninitialized(dst, size);
  if (bytes != NULL && size != 0) memcpy(bytes, src, size);
}

// `dst` becomes an owned copy of a SMALL or LARGE `src`; a second view of the bytes of a VIEW, with
// a reference of its own to their owner; a view without an owner of the bytes of an OFFSET string,
// since its offset holds at one address only.
static inline void TF_TString_Assign(TF_TString* dst, const TF_TString* src) {
  const char* bytes = TF_TString_GetDataPointer(src);
  const size_t size = TF_TString_GetSize(src);
  if (dst == src) return;
  switch (TF_TString_GetType(src)) {
    case TF_TSTR_SMALL:
      TF_TString_Dealloc(dst);
      *dst = *src;
      return;
    case TF_TSTR_LARGE:
      TF_TString_Copy(dst, bytes, size);
      return;
    case TF_TSTR_VIEW:
      TF_TString_AssignViewWithOwner(dst, bytes, size, src->u.view.owner_ref);
      return;
    default:
      TF_TString_AssignView(dst, bytes, size);
      return;
  }
}

// `dst` takes over the bytes of a LARGE `src` or the view of a VIEW, and `src` becomes empty. A
// SMALL or OFFSET `src` is assigned as by TF_TString_Assign, and stays as it is.
static inline void TF_TString_Move(TF_TString* dst, TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
    return;
  }
  TF_TString_Dealloc(dst);
  *dst = *src;
  if (TF_TString_GetType(src) != TF_TSTR_SMALL) TF_TString_Init(src);
}

#endif  // TENSORFLOW_TSL_PLATFORM_CTSTRING_H_
