int batch_plan(int n);
void batch_run(float* q, int plan);

TVM_FFI_DLL_EXPORT_TYPED_FUNC(plan, batch_plan);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, batch_run);
