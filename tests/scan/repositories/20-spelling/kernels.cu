// A backslash before a line break splits no name, and digraphs are brackets.
__glo\
bal__ void split_over_lines(float* out) {
  out[threadIdx.x] = 1;
}

__global__ void with_digraphs(float* out) <%
  out<:threadIdx.x:> = 1;
%>

%:define SIZE 256
__global__ void after_digraphs(float* out) { out[0] = SIZE; }

void launch(float* out) {
  split_over_lines<<\
<1, SIZE>>>(out);
  with_digraphs<<<2, SIZE>>>(out);
  after_digraphs<<<3, SIZE>>>(out);
}
