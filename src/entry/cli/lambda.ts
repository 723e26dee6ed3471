// What is deployed to Lambda.
export { handler } from '../aws-lambda.ts'
