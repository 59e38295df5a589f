// The one enumeration of XLA's C interface that the plug-in interface passes by value.
#ifndef XLA_C_C_API_DECL_H_
#define XLA_C_C_API_DECL_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  XLA_LayoutPreference_kNoPreference,
  XLA_LayoutPreference_kTpuPreferCompactChunkPaddedLayout,
  XLA_LayoutPreference_kTpuPreferLinearLayout,
} XLA_LayoutPreference;

#ifdef __cplusplus
}
#endif

#endif  // XLA_C_C_API_DECL_H_
