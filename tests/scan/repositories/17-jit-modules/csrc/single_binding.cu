void single_decode(float* q, float* out);

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, single_decode);
