RWTexture2D<float4> target;
float weight(float x) { return x; }

[numthreads(8, 8, 1)]
void CSMain(uint3 id : SV_DispatchThreadID)
{
  target[id.xy] = weight(1);
}

float4 PSMain() : SV_Target { return 0; }
