module Add
using CUDA, KernelAbstractions

# @cuda threads=256 commented(a)
function vadd(a, b, c)
    i = threadIdx().x + (blockIdx().x - 1) * blockDim().x
    if i <= length(c)
        @inbounds c[i] = a[i] + b[i]
    end
    return
end

function add(a, b)
    c = similar(a)
    last = a[end]
    sum = [x for x in 1:3 if x > 1]
    @cuda threads=(256, 1) blocks=cld(length(a), 256) vadd(a, b, c)
    return c
end

@kernel function scale!(x, factor)
    i = @index(Global)
    x[i] *= factor
end

function outer(x)
    function kernel(x)
        x[1] = '(' == 'a' ? 1 : 2
        return
    end
    CUDA.@sync @cuda kernel(x)
end

# Twins: nobody launches it; a text; a macro of another name.
function helper(a)
    println("@cuda threads=1 helper(a)")
    @cudart helper(a)
end
end
